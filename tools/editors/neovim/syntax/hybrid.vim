" Highlighting where no tree-sitter parser is installed.
if exists("b:current_syntax")
  finish
endif
syntax keyword hybridDefinition layer model use
syntax keyword hybridStatement let input output topology return
syntax keyword hybridRepeat for in repeat
syntax keyword hybridConditional if then else
syntax keyword hybridOperator and or not with
syntax keyword hybridType int float bool string
syntax keyword hybridConstant true false none
syntax match hybridNumber "\<\d[0-9_]*\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>"
syntax match hybridFunction "\<[a-z_][A-Za-z0-9_]*\ze("
syntax region hybridString start=+"+ skip=+\\.+ end=+"+ oneline
syntax match hybridComment "//.*$"
highlight default link hybridDefinition Keyword
highlight default link hybridStatement Statement
highlight default link hybridRepeat Repeat
highlight default link hybridConditional Conditional
highlight default link hybridOperator Operator
highlight default link hybridType Type
highlight default link hybridConstant Constant
highlight default link hybridNumber Number
highlight default link hybridFunction Function
highlight default link hybridString String
highlight default link hybridComment Comment
let b:current_syntax = "hybrid"
