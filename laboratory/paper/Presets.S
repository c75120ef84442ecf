// papers/presets.json, so that a program knows the papers' recipes wherever it is installed.
        .section .rodata
        .globl hybridPresetsBegin, hybridPresetsEnd
hybridPresetsBegin:
        .incbin "presets.json"
hybridPresetsEnd:
        .byte 0
        .section .note.GNU-stack,"",%progbits
