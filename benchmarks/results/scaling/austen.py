"""The six novels in Debian's r-cran-janeaustenr as one text, without R: austen.py PACKAGE.deb OUT.txt"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

package, out = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    stored = next(pathlib.Path(folder).rglob("janeaustenr/data/Rdata.rdb")).read_bytes()

STRING = b"\x00\x04\x00\x09"  # the flags of an ASCII string in R's XDR serialization; its length and bytes follow
at, text = 0, []
while at < len(stored):  # an object is 4 bytes of length and a zlib stream
    stream = zlib.decompressobj()
    plain = stream.decompress(stored[at + 4 :])
    at = len(stored) - len(stream.unused_data)
    where = plain.find(STRING)
    while where >= 0:
        start = where + 8
        (size,) = struct.unpack(">i", plain[where + 4 : start])
        if 0 <= size < 2000 and start + size <= len(plain):
            text.append(plain[start : start + size])
            where = plain.find(STRING, start + size)
        else:
            where = plain.find(STRING, where + 4)
pathlib.Path(out).write_bytes(b"\n".join(text) + b"\n")
