// What of a report is not data: the page's skeleton, style sheet, script, and Chart.js.
        .section .rodata
        .globl hybridReportPageBegin, hybridReportPageEnd
        .globl hybridReportStyleBegin, hybridReportStyleEnd
        .globl hybridReportScriptBegin, hybridReportScriptEnd
        .globl hybridReportChartsBegin, hybridReportChartsEnd
hybridReportPageBegin:
        .incbin "page.html"
hybridReportPageEnd:
hybridReportStyleBegin:
        .incbin "report.css"
hybridReportStyleEnd:
hybridReportScriptBegin:
        .incbin "parts.js"
        .incbin "charts.js"
        .incbin "scaling.js"
        .incbin "report.js"
hybridReportScriptEnd:
hybridReportChartsBegin:
        .incbin HYBRID_CHARTS
hybridReportChartsEnd:
        .byte 0
        .section .note.GNU-stack,"",%progbits
