# shellcheck shell=bash
#
# Leases for the steps of a CI job, through the lease proxy that `berth run --proxy` serves to it.
# Source it in bash; it needs curl and nothing else.
#
#   handle=$(lease__acquire --type=install-slot --scope=step)   # waits for its turn
#   lease__release --handle="$handle"                           # again is fine, and so is at once
#
# Results go to standard output, all else to standard error. It works under `set -euo pipefail`.
#
# lease__acquire  --type=T [--count=N] [--scope=step|test] [--jitter=Ns|Nm]
#     Prints the handle: a file with one name per line. 0: granted, 1: failed, 2: there is no such
#     type, 3: nothing came free in time, 4: refused.
#     Of scope `test` (the default) it is known to later steps, too, through $SHARED_DIR/leases.
# lease__release  --handle=FILE | --names=A,B | --scope=test   [--delay=20m]
#     Prints `A,B released`, or nothing if there was nothing to do. 0: done, 1: failed; then it can be
#     tried again.
# lease__cat      --handle=FILE [--format=plain|csv] [--pretty-format=csv]
# lease__install_lease_eligible
#     Whether this job's profile belongs to a set whose installations are metered.
#
# LEASE_PROXY_SERVER_URL   where the proxy is; without it nothing is asked for (dry run)
# LEASE_RETRIES, LEASE_RETRY_DELAY   how often to try again, and after how many seconds: 5, 10
# LEASE_HANDLE_DIR         where handles are kept: /tmp

if [ -z "${BASH_VERSION:-}" ]; then
    echo "berth.sh: Cannot be used: this shell is not bash" >&2
    # shellcheck disable=SC2317 # Sourced or run, it ends here.
    return 1 2>/dev/null || exit 1
fi

_lease__say() {
    printf '%s\n' "$*" >&2
}

# Leaves the value of an option in `value`, and in `taken` how many words it took.
_lease__value() {
    case "$1" in
        *=*)
            value=${1#*=}
            taken=1
            ;;
        *)
            if [ $# -lt 2 ]; then
                _lease__say "Option $1 needs a value"
                return 1
            fi
            value=$2
            taken=2
            ;;
    esac
}

# Posts to a path of the proxy, and tries again after failures that may pass. Leaves `code` (000: no
# answer) and `body`. The address contains a secret, and every user of the machine can read command
# lines: so curl reads the address from its standard input.
_lease__post() {
    local path=$1 url try answer delay=${LEASE_RETRY_DELAY:-10} retries=${LEASE_RETRIES:-5}
    shift
    url=${LEASE_PROXY_SERVER_URL%/}$path
    url=${url//\\/\\\\}
    url=${url//\"/\\\"}
    for ((try = 0; ; try++)); do
        answer=$(curl -sS -X POST --connect-timeout 30 --write-out '\n%{http_code}' \
            --config - "$@" <<<"url = \"$url\"") ||
            answer=$'\n000'
        code=${answer##*$'\n'}
        body=${answer%$'\n'*}
        case "$code" in
            000 | 408 | 429 | 5??) ;;
            *) return 0 ;;
        esac
        # It has waited for as long as it may; another wait is for the caller to decide.
        if [[ $body == *": resources not found"* ]] || ((try >= retries)); then
            return 0
        fi
        sleep "$delay"
    done
}

# Leaves the names of the proxy's answer in `granted`. There is no jq on every machine.
_lease__names() {
    local list item=$'^[[:space:]]*"([^"\\\\]+)"[[:space:]]*(,|$)'
    [[ $1 =~ ^[[:space:]]*\{[[:space:]]*\"names\"[[:space:]]*:[[:space:]]*(\[(.*)\]|null)[[:space:]]*\}[[:space:]]*$ ]] ||
        return 1
    list=${BASH_REMATCH[2]:-}
    granted=()
    while [[ $list =~ [^[:space:]] ]]; do
        [[ $list =~ $item ]] || return 1
        granted+=("${BASH_REMATCH[1]}")
        list=${list#*"${BASH_REMATCH[0]}"}
    done
}

# Names one per line as `a,b`.
_lease__csv() {
    local text=$1
    while [[ $text == *$'\n' ]]; do text=${text%$'\n'}; done
    printf '%s' "${text//$'\n'/,}"
}

_lease__is_number() {
    [[ $1 =~ ^[[:digit:]]+$ ]]
}

# Somewhere in the time, so that not all begin at once.
_lease__jitter() {
    local number=${1%[sm]} seconds
    if ! [[ $1 =~ ^[[:digit:]]+[sm]$ ]] || ((10#$number < 1)); then
        _lease__say 'jitter parameter is invalid'
        return 1
    fi
    seconds=$((10#$number))
    if [[ $1 == *m ]]; then
        seconds=$((seconds * 60))
    fi
    sleep $(((RANDOM << 15 | RANDOM) % (seconds + 1)))
}

lease__acquire() {
    local type='' count=1 scope='test' jitter='' value taken
    while [ $# -gt 0 ]; do
        case "$1" in
            -t | --type | --type=*)
                _lease__value "$@" || return 1
                type=$value
                ;;
            -c | --count | --count=*)
                _lease__value "$@" || return 1
                count=$value
                ;;
            --scope | --scope=*)
                _lease__value "$@" || return 1
                scope=$value
                ;;
            --jitter | --jitter=*)
                _lease__value "$@" || return 1
                jitter=$value
                ;;
            *)
                _lease__say "Unknown option: $1"
                return 1
                ;;
        esac
        shift "$taken"
    done
    if [ -z "$type" ]; then
        _lease__say 'resource type parameter is invalid'
        return 1
    fi
    if ! _lease__is_number "$count"; then
        _lease__say 'count parameter is invalid'
        return 1
    fi
    if [ "$scope" != step ] && [ "$scope" != 'test' ]; then
        _lease__say 'scope parameter is invalid'
        return 1
    fi
    if [ -n "$jitter" ]; then
        _lease__jitter "$jitter" || return 1
    fi
    if [ -z "${LEASE_PROXY_SERVER_URL:-}" ]; then
        printf '%s\n' 'LEASE_PROXY_SERVER_URL-not-set-dry-run-mode'
        return 0
    fi
    # Before anything is asked for: what could not be remembered would be lost.
    if [ "$scope" = 'test' ] && [ -z "${SHARED_DIR:-}" ]; then
        # shellcheck disable=SC2016 # It is the variable's name that is told.
        _lease__say '$SHARED_DIR is empty'
        return 1
    fi
    ((10#$count > 0)) || return 0
    _lease__ask "$type" "$count" "$scope"
}

_lease__ask() {
    local type=$1 count=$2 scope=$3 code='' body='' granted=()
    # Whoever repeats itself with the same key is never lent twice.
    _lease__post /lease/acquire -G \
        --data-urlencode "type=$type" --data-urlencode "count=$count" \
        -H "Idempotency-Key: $BASHPID-$RANDOM$RANDOM$RANDOM-$(date +%s)"
    case "$code" in
        2??) ;;
        404)
            _lease__say "Failed to acquire \"$type\": it does not exist"
            return 2
            ;;
        *)
            _lease__say "Unexpected response code $code while acquiring lease \"$type\""
            _lease__say "$body"
            case "$code:$body" in
                *": resources not found"*) return 3 ;;
                4??:*) return 4 ;;
                *) return 1 ;;
            esac
            ;;
    esac
    if ! _lease__names "$body" || ((${#granted[@]} == 0)); then
        _lease__say "Failed to parse the response"
        _lease__say "$body"
        return 1
    fi
    _lease__keep "$type" "$scope" "${granted[@]}"
}

# Writes the handle. What cannot be kept is given back: nobody would know of it.
_lease__keep() {
    local type=$1 scope=$2 handle lines
    shift 2
    lines=$(printf '%s\n' "$@")
    if ! handle=$(mktemp "${LEASE_HANDLE_DIR:-/tmp}/${type//[^A-Za-z0-9._-]/_}-XXXXX") ||
        ! printf '%s' "$lines" >"$handle" || ! : >"$handle.lock" ||
        { [ "$scope" = 'test' ] && ! printf '%s\n' "$lines" >>"$SHARED_DIR/leases"; }; then
        _lease__say "Failed to write the handle: [$*] is given back"
        _lease__release_names "$lines" >&2 || true
        return 1
    fi
    printf '%s' "$handle"
}

lease__release() {
    local names='' handle='' scope='' delay='' given=0 value taken
    local by_names=0 by_handle=0
    while [ $# -gt 0 ]; do
        case "$1" in
            -n | --names | --names=*)
                _lease__value "$@" || return 1
                names=$value by_names=1 given=$((given + 1))
                ;;
            --handle | --handle=*)
                _lease__value "$@" || return 1
                handle=$value by_handle=1 given=$((given + 1))
                ;;
            --scope | --scope=*)
                _lease__value "$@" || return 1
                scope=$value given=$((given + 1))
                ;;
            --delay | --delay=*)
                _lease__value "$@" || return 1
                delay=$value
                ;;
            *)
                _lease__say "Unknown option: $1"
                return 1
                ;;
        esac
        shift "$taken"
    done
    if ((given > 1)); then
        _lease__say 'Parameters --names, --handle, and --scope are mutually exclusive'
        return 1
    fi
    if ((given == 0)); then
        _lease__say 'One of --names, --handle, or --scope is required'
        return 1
    fi
    if ((by_handle)); then
        [ -n "$handle" ] || return 0
    elif { ((by_names)) && [ -z "$names" ]; } || { ((!by_names)) && [ "$scope" != 'test' ]; }; then
        _lease__say 'lease names are required'
        return 1
    fi
    _lease__give_back "$names" "$handle" "$delay"
}

_lease__give_back() {
    local names=$1 handle=$2 delay=$3 file=${2:-${SHARED_DIR:-}/leases}
    if [ -z "${LEASE_PROXY_SERVER_URL:-}" ]; then
        if [ -z "$names" ] && [ -f "$file" ]; then names=$(_lease__csv "$(cat "$file")"); fi
        printf 'LEASE_PROXY_SERVER_URL not set, dry run mode: it would release "%s"\n' \
            "${names:-$file}"
        return 0
    fi
    if [ -z "$names$handle" ] && [ -z "${SHARED_DIR:-}" ]; then
        # shellcheck disable=SC2016 # It is the variable's name that is told.
        _lease__say '$SHARED_DIR is empty'
        return 1
    fi
    # Whoever waits for the output of a step is not kept waiting by one that sleeps in its background.
    if [ -n "$delay" ] && ! sleep "$delay" >/dev/null 2>&1; then
        _lease__say 'delay parameter is invalid'
        return 1
    fi
    if [ -n "$names" ]; then
        _lease__release_names "${names//,/$'\n'}"
    else
        _lease__release_file "$file" "$handle"
    fi
}

# Whoever renames the file first gives back what it names: two at once send one request, and no lock
# is left behind by one that was killed. If it fails the file is put back, so that it can be repeated.
_lease__release_file() {
    local file=$1 handle=$2 mine="$1.releasing.$BASHPID" lines
    [ -s "$file" ] || return 0
    mv "$file" "$mine" 2>/dev/null || return 0
    [ -n "$handle" ] || : >>"$file"
    lines=$(cat "$mine")
    if ! _lease__release_names "$lines"; then
        if [ -n "$handle" ]; then
            mv "$mine" "$file"
        else
            cat "$mine" >>"$file"
            rm -f "$mine"
        fi
        return 1
    fi
    rm -f "$mine"
    if [ -n "$handle" ]; then
        rm -f "$handle.lock"
        _lease__forget "$lines"
    fi
}

# What was given back by its handle is no longer for later steps to give back.
_lease__forget() {
    local shared=${SHARED_DIR:-}/leases line kept=''
    [ -n "${SHARED_DIR:-}" ] && [ -s "$shared" ] || return 0
    while IFS= read -r line || [ -n "$line" ]; do
        case $'\n'"$1"$'\n' in
            *$'\n'"$line"$'\n'*) ;;
            *) kept+="$line"$'\n' ;;
        esac
    done <"$shared"
    printf '%s' "$kept" >"$shared"
}

# Takes names one per line.
_lease__release_names() {
    local names json='' name code='' body=''
    names=$(_lease__csv "$1")
    while IFS= read -r name; do
        [ -n "$name" ] || continue
        name=${name//\\/\\\\}
        json+="${json:+,}\"${name//\"/\\\"}\""
    done <<<"$1"
    _lease__post /lease/release -H 'Content-Type: application/json' --data "{\"names\":[$json]}"
    case "$code" in
        2??)
            printf '%s released\n' "$names"
            ;;
        *)
            _lease__say "Unexpected response code $code while releasing leases \"$names\""
            _lease__say "$body"
            return 1
            ;;
    esac
}

lease__cat() {
    local handle='' format=plain end='' value taken
    while [ $# -gt 0 ]; do
        case "$1" in
            --handle | --handle=*)
                _lease__value "$@" || return 1
                handle=$value
                ;;
            --format | --format=*)
                _lease__value "$@" || return 1
                format=$value
                ;;
            --pretty-format | --pretty-format=*)
                _lease__value "$@" || return 1
                format=$value end=$'\n'
                ;;
            *)
                _lease__say "Unknown option: $1"
                return 1
                ;;
        esac
        shift "$taken"
    done
    if [ "$format" != plain ] && [ "$format" != csv ]; then
        _lease__say "Invalid format $format"
        return 1
    fi
    [ -f "$handle" ] || return 0
    if [ "$format" = csv ]; then
        printf '%s%s' "$(_lease__csv "$(cat "$handle")")" "$end"
    else
        cat "$handle"
    fi
}

lease__install_lease_eligible() {
    [[ ${CLUSTER_PROFILE_SET_NAME:-} =~ ^openshift-org-.+$ ]]
}

export -f lease__acquire lease__release lease__cat lease__install_lease_eligible
export -f _lease__say _lease__value _lease__post _lease__names _lease__csv _lease__is_number
export -f _lease__jitter _lease__ask _lease__keep _lease__give_back _lease__release_file
export -f _lease__forget _lease__release_names
