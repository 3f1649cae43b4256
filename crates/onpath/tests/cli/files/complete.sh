# `typed SHELL WORD...` prints what a shell is given to complete the last word, as its script asks for it.

eval "$(onpath completions bash)"
typed() {
    local shell=$1
    shift
    case $shell in
    bash)
        # bash parts words at `=` too.
        COMP_WORDS=() COMP_TYPE=9
        local word
        for word; do
            case $word in
            *=*) COMP_WORDS+=("${word%%=*}" "=" "${word#*=}") ;;
            *) COMP_WORDS+=("$word") ;;
            esac
        done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _clap_complete_onpath onpath "${COMP_WORDS[COMP_CWORD]}" "" 2> /dev/null
        printf '%s\n' "${COMPREPLY[@]}" ;;
    zsh) ONPATH_COMPLETE=zsh _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$(($# - 1)) onpath -- "$@"; echo ;;
    fish) ONPATH_COMPLETE=fish onpath -- "$@" ;;
    esac | grep -v -e '^-' -e '^$'
}
