(comment) @comment
(string) @string
(number) @number
(boolean) @boolean
(word_type) @type
(definition name: (name) @function)
(parameter name: (name) @variable.parameter)
(argument name: (name) @variable.parameter)
(call layer: (name) @function.call)
(operator) @function.builtin
["layer" "model" "let" "input" "output" "topology" "use"] @keyword
["for" "in" "repeat"] @keyword.repeat
["if" "then" "else"] @keyword.conditional
["and" "or" "not" "with"] @keyword.operator
"return" @keyword.return
