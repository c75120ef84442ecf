// The page's skeleton, style sheet and script as data.
        .section .rodata
        .globl hybridReportPageBegin
        .globl hybridReportPageEnd
        .globl hybridReportStyleBegin
        .globl hybridReportStyleEnd
        .globl hybridReportScriptBegin
        .globl hybridReportScriptEnd
hybridReportPageBegin:
        .incbin HYBRID_REPORT_PAGE
hybridReportPageEnd:
        .byte 0
hybridReportStyleBegin:
        .incbin HYBRID_REPORT_STYLE
hybridReportStyleEnd:
        .byte 0
hybridReportScriptBegin:
        .incbin HYBRID_REPORT_SCRIPT
hybridReportScriptEnd:
        .byte 0
        .section .note.GNU-stack,"",%progbits
