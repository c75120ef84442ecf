"""A norm's gradient behind a product, to which as many tensors are added as the argument says."""
import sys

count = int(sys.argv[1])
rows = "memref<64x32xf32>"
added = [f"%h{i}" for i in range(count)]
print("schedule.program @gradient {")
for name, kind in [("%a", "memref<64x16xbf16>"), ("%w", "memref<16x32xbf16>"), ("%dy", rows), ("%x", rows),
                   ("%scale", "memref<32xf32>"), ("%sums", "memref<4x1x32xf32>"), ("%dx", rows)]:
    print(f"  {name} = schedule.buffer arena : {kind}")
for name in added:
    print(f"  {name} = schedule.buffer arena : {rows}")
print(f"""  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, {rows})
      {{store = "RowStore<float, 32>", store_buffers = 1 : i64, stores_rows, writes = array<i64: 2>}}
  schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4 ({", ".join(["%x, %scale, %dy, %sums", *added, "%dx"])} :
      {", ".join([rows, "memref<32xf32>", rows, "memref<4x1x32xf32>"] + [rows] * (count + 1))})
      {{row_operand = 2 : i64, store_buffers = {count + 1} : i64, writes = array<i64: 3, {count + 4}>}} storing {{
  ^bb0({", ".join(f"%v{i}: tensor<64x32xf32>" for i in range(count + 1))}):""")
total = "%v0"
for i in range(1, count + 1):
    print(f"    %s{i} = hybrid.binary add {total}, %v{i} : tensor<64x32xf32>, tensor<64x32xf32>")
    total = f"%s{i}"
print(f"""    schedule.yield {total} : tensor<64x32xf32>
  }}
  schedule.output "dx" %dx : {rows}
}}""")
