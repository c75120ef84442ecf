// The kernels' bitcode as data: hybridc specialises a copy of it for every program.
        .section .rodata
        .globl hybridKernelsBitcodeBegin
        .globl hybridKernelsBitcodeEnd
        .balign 64
hybridKernelsBitcodeBegin:
        .incbin HYBRID_KERNELS_BITCODE
hybridKernelsBitcodeEnd:
        .byte 0
        .section .note.GNU-stack,"",%progbits
