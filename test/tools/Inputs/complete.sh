# What a completion offers: complete.sh SCRIPT FUNCTION WORD..., the last of which is being written.
source "$1"
function=$2
shift 2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$function
printf '%s\n' "${COMPREPLY[@]}"
