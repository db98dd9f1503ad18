#!/bin/sh
# shellcheck disable=SC2015,SC2317
# (`A && B || C` runs C if either fails, as it should; functions are also called by name.)
#
# Berth's client for jobs that have a POSIX shell and curl, and nothing else. The server offers it:
#
#   curl -fsS "$BERTH_URL/client.sh" | sh -s -- run --pool aws-account -- ./e2e.sh
#
# If the download fails, sh runs nothing and exits 0. A job that must not go on then uses two steps:
#
#   curl -fsS "$BERTH_URL/client.sh" -o berth.sh && sh berth.sh run --pool aws-account -- ./e2e.sh
#
# Exit codes and variables are those of the command `berth`; `sh berth.sh --help` lists them. It needs the
# usual small programs of a container too: mktemp, mkfifo, rm, cat, tr, sleep. With setsid (util-linux,
# busybox) the processes that the command started are stopped with it.
#
# The server answers in lines `path=value`. They are compared and stored, and never evaluated: a name that
# looks like shell code stays a name. Tokens go to curl through a pipe, never in its arguments.

# The server puts its own address here when it hands the script out.
berth_served_by=''

# The limits are those of src/client/limits.ts. Times are in milliseconds.
answer_ms=15000
poll_ms=30000
outage_ms=300000
release_ms=30000
leave_ms=5000
asks_max=20

usage() {
    cat <<'END'
Usage: sh client.sh COMMAND [options]

  run --pool POOL -- CMD...   acquire a lease, run CMD, release the lease when CMD has ended
  acquire --pool POOL         acquire a lease and print it: -o json (default), env or name
  heartbeat [LEASE]           keep a lease for another ttl; --every DURATION repeats it
  release [LEASE]             release a lease; --state STATE sets its resources to this state
  status                      list the pools

Steps of a pipeline, which know the request by --request-id and share nothing else:
  ask --pool POOL             make the request, print its id, and do not wait
  wait                        wait until it is granted, and print its resources
  access --to DIR             write what the job needs to private files: kubeconfig, password, lease.env, lease.json
  heartbeat --every DURATION  keep it, also while it waits; with --to, renew access that expires
  logs                        print why it waits, or its clusters and their logs; always exits 0
  release                     leave the queue, or release the lease

Request (run, acquire, ask):
  --pool POOL[,POOL][:N]      pool to lease from, or several to choose from; repeatable: all or nothing
  --amount KEY=N              amount of a shared resource, such as vcpus=24; repeatable
  --selector KEY=VALUE        only resources with this label; repeatable
  --resource NAME             only this resource
  --parameter NAME=VALUE      how to make a cluster, such as version=4.20; repeatable
  --holder WHO                shown to other users; default: the CI build
  --ttl, --lifetime DURATION  heartbeat timeout, maximum lifetime; default: the pool's
  --priority N|NAME           higher goes first
  --label KEY=VALUE           label of the lease; repeatable
  --request-id ID             your own id; repeating it returns the same lease
  --timeout DURATION          leave the queue and exit 75 after this time
  --connect-timeout DURATION  how long to retry while the server does not answer; default 30s

run:
  --name NAME                 the name in log lines; default: the command's name
  --grace DURATION            time between TERM and KILL when the lease is lost; default 30s
  --fail-open                 run CMD without a lease if the server is unreachable or unavailable
  --fail-open-always          also if the lease is refused, lost, or not granted in --timeout

Server:
  --server URL                default: BERTH_URL, then the server that the script came from
  --token-file FILE           or BERTH_TOKEN, BERTH_TOKEN_FILE, BERTH_ID_TOKEN, the id token of GitHub Actions
  --ca-file FILE              or BERTH_CA_FILE: the authority of an https:// server

Environment of CMD: BERTH_LEASE_ID, BERTH_LEASE_TOKEN, BERTH_URL, BERTH_LEASE_FILE (the lease as JSON),
and for each pool BERTH_RESOURCE_<POOL> and BERTH_FENCE_<POOL> (aws-account: AWS_ACCOUNT).
For a cluster also KUBECONFIG, BERTH_KUBECONFIG_<POOL> and KUBEADMIN_PASSWORD_FILE.

Exit codes:
  CMD's own    CMD has exited; 128+N if signal N killed it
  64           wrong usage: an option, an argument or an environment variable
  66           not found: no such pool, lease or request
  69           the server is unreachable or unavailable
  75           not granted within --timeout
  76           the lease was lost; CMD was stopped, or never started
  77           the server refused
  126, 127     CMD is not executable, was not found
  130, 143     interrupted by Ctrl-C, by TERM, while waiting (128+N)
END
}

# ---- messages ----

# What a server says must not move the cursor of a terminal or hide other lines.
note() {
    case $* in
        *[[:cntrl:]]*) printf '%s\n' "$*" | LC_ALL=C tr -d '\000-\011\013-\037\177' >&2 ;;
        *) printf '%s\n' "$*" >&2 ;;
    esac
}

# fail CODE MESSAGE HINT
fail() {
    note "berth: $2"
    note "  $3"
    exit "$1"
}

# bad OPTION VALUE STATE HINT
bad() {
    fail 64 "Cannot use $1 $(json "$2"): $3" "$4"
}

# ---- time ----

# Leaves the time in `now`. The clock of the machine may be set; the time since its start may not.
tick() {
    if [ -r /proc/uptime ]; then
        read -r now _ </proc/uptime
        now=$((${now%.*} * 1000 + 1${now#*.} * 10 - 1000))
    else
        now=$(date +%s)000
    fi
}

# Leaves a duration such as 90s, 1h30m or 1.5h in `ms`. Fails if it is none.
to_ms() {
    ms=0 rest=$1
    [ "$rest" != 0 ] || return 0
    [ -n "$rest" ] && [ "${#rest}" -le 32 ] || return 1
    while [ -n "$rest" ]; do
        number=${rest%%[!0-9.]*}
        rest=${rest#"$number"}
        case $number in '' | .* | *. | *.*.*) return 1 ;; esac
        case $rest in
            ms*) unit=1 rest=${rest#ms} ;;
            s*) unit=1000 rest=${rest#s} ;;
            m*) unit=60000 rest=${rest#m} ;;
            h*) unit=3600000 rest=${rest#h} ;;
            d*) unit=86400000 rest=${rest#d} ;;
            *) return 1 ;;
        esac
        whole=${number%%.*} fraction=${number#"${number%%.*}"}
        while [ "${whole#0}" != "$whole" ] && [ "${#whole}" -gt 1 ]; do whole=${whole#0}; done
        [ "${#whole}" -le 9 ] || return 1
        fraction=${fraction#.}000
        fraction=1${fraction%"${fraction#???}"}
        ms=$((ms + whole * unit + (fraction - 1000) * unit / 1000))
    done
}

# Leaves milliseconds in `seconds`, as curl and sleep want them: 1.500.
to_seconds() {
    thousandths=$((1000 + $1 % 1000))
    seconds=$(($1 / 1000)).${thousandths#1}
}

# Leaves milliseconds in `text` for people: 9s, 2m10s, 1h05m.
rough() {
    text=$((($1 + 500) / 1000))
    [ "$text" -ge 0 ] || text=0
    if [ "$text" -ge 3600 ]; then
        text=$((text / 3600))h$((text % 3600 / 60))m
    elif [ "$text" -ge 60 ]; then
        text=$((text / 60))m$((text % 60))s
    else
        text=${text}s
    fi
}

# Leaves an instant such as 2026-11-17T05:27:26.123Z in `ms`, since 1970. Fails if it is none.
to_instant() {
    case $1 in [1-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z) ;; *) return 1 ;; esac
    rest=${1%Z}
    case ${rest#???????????????????} in '' | .) ;; .*[!0-9]* | [!.]*) return 1 ;; esac
    year=${rest%%-*} rest=${rest#*-}
    month=$((1${rest%%-*} - 100)) rest=${rest#*-}
    day=$((1${rest%%T*} - 100)) rest=${rest#*T}
    hour=$((1${rest%%:*} - 100)) rest=${rest#*:}
    minute=$((1${rest%%:*} - 100)) rest=${rest#*:}
    second=$((1${rest%%.*} - 100))
    case $rest in *.*) rest=${rest#*.}000 ;; *) rest=000 ;; esac
    # The months of a year that begins in March have a regular length.
    [ "$month" -gt 2 ] || year=$((year - 1)) month=$((month + 12))
    day=$((day + (153 * (month - 3) + 2) / 5 + 365 * year + year / 4 - year / 100 + year / 400 - 719469))
    ms=$((((day * 24 + hour) * 60 + minute) * 60000 + second * 1000 + 1${rest%"${rest#???}"} - 1000))
}

# Waits; a signal ends it.
pause() {
    [ "$1" -gt 0 ] && [ -z "$caught" ] || return 0
    to_seconds "$1"
    [ -n "$fractions" ] || seconds=$((($1 + 999) / 1000))
    sleep "$seconds" >/dev/null 2>&1 3<&- 8>&- &
    await_child
}

# Waits for the process that was started last. A signal ends both; whenever it comes, the process is gone then.
await_child() {
    child=$!
    [ -z "$caught$ending" ] || kill "$child" 2>/dev/null
    # Some shells say here which signal has ended it.
    { wait "$child"; } 2>/dev/null
    waited=$?
    if [ -n "$caught$ending" ]; then
        { kill "$child"; wait "$child"; } 2>/dev/null
    fi
    child=''
    [ -z "$ending" ] || exit 0
}

# ---- text ----

# Prints the text as a JSON string. Call it in a subshell.
json() {
    LC_ALL=C
    rest=$1 encoded=
    while [ -n "$rest" ]; do
        behind=${rest#?}
        one=${rest%"$behind"}
        case $one in
            \" | \\) encoded=$encoded\\$one ;;
            [[:cntrl:]]) encoded=$encoded$(printf '\\u%04x' "'$one") ;;
            *) encoded=$encoded$one ;;
        esac
        rest=$behind
    done
    printf '"%s"' "$encoded"
}

# Leaves the text in `quoted`, as one word for a shell.
quote() {
    rest=$1 quoted=
    while :; do
        case $rest in
            *\'*)
                quoted=$quoted${rest%%\'*}"'\\''"
                rest=${rest#*\'}
                ;;
            *) break ;;
        esac
    done
    quoted="'$quoted$rest'"
}

# Leaves what a line of a reply stands for in `text`. The full stop keeps line breaks at its end.
decode() {
    text=$(printf '%b.' "$1")
    text=${text%.}
}

# Leaves the ending of a pool's variables in `suffix`: AWS_ACCOUNT of aws-account.
to_suffix() {
    suffix=$(printf %s "$1" | LC_ALL=C tr '[:lower:]' '[:upper:]' | LC_ALL=C tr -c A-Z0-9 _)
}

# A number that a shell can calculate with. Anything else in $((…)) may be a command for bash.
is_number() {
    case $1 in '' | *[!0-9]* | 0?* | ??????????????????*) return 1 ;; esac
}

is_token() {
    case $1 in '' | *[!A-Za-z0-9._~+/=-]*) return 1 ;; esac
}

# A name that may stand in a path or in the name of a file.
is_id() {
    case $1 in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
}

# ---- calls ----

# call METHOD PATH MS [BODY-FILE]: sends one call with the token in `bearer`. Leaves the status in `status`,
# 000 if there was no whole answer, and the reply in the file $reply.
call() {
    status=000 retry_after=0
    [ -z "$caught" ] || return 0
    method=$1 address=$server$2 body=${4:-}
    answer_in=$3
    to_seconds "$3"
    set -- -q -g -sS -K - -X "$method" -A berth-client-sh --max-time "$seconds"
    set -- "$@" -o "$reply" -D "$reply.head" -w '%{http_code}'
    [ -z "$ca_file" ] || set -- "$@" --cacert "$ca_file"
    [ -z "$body" ] || set -- "$@" -H 'Content-Type: application/json' --data-binary "@$body"
    : >"$reply"
    : >"$reply.head"
    {
        printf 'header = "Accept: %s"\n' "$accept"
        [ -z "$bearer" ] || printf 'header = "Authorization: Bearer %s"\n' "$bearer"
    } | curl "$@" "$address" >"$reply.status" 2>"$reply.error" 3<&- 8>&- &
    await_child
    curl_code=$waited
    [ -z "$caught" ] && [ "$curl_code" -eq 0 ] || return 0
    read -r status <"$reply.status"
    read_head
}

read_head() {
    while IFS=': ' read -r header value _; do
        case $header in
            [Rr][Ee][Tt][Rr][Yy]-[Aa][Ff][Tt][Ee][Rr])
                value=${value%"$(printf '\r')"}
                case $value in '' | *[!0-9]* | ??????*) ;; *) retry_after=${value}000 ;; esac
                ;;
        esac
    done <"$reply.head"
}

# Reads the values of the reply that the client knows. All others are left alone.
read_reply() {
    r_id='' r_token='' r_ttl='' r_position='' r_waited='' r_eta='' r_reason='' r_why='' r_code='' r_detail='' r_hint=''
    r_how='' r_expires='' r_ends='' r_granted='' r_revoked='' r_notice='' r_notice_reason=''
    while IFS= read -r line; do
        value=${line#*=}
        case $line in
            id=*) r_id=$value ;;
            token=*) r_token=$value ;;
            ttl=*) r_ttl=$value ;;
            position=*) r_position=$value ;;
            waitedSeconds=*) r_waited=$value ;;
            etaSeconds=*) r_eta=$value ;;
            reason.message=*) r_reason=$value ;;
            reason.code=*) r_why=$value ;;
            code=*) r_code=$value ;;
            detail=*) r_detail=$value ;;
            hint=*) r_hint=$value ;;
            how=*) r_how=$value ;;
            expiresAt=*) r_expires=$value ;;
            endsAt=*) r_ends=$value ;;
            grantedAt=*) r_granted=$value ;;
            revokedAt=*) r_revoked=$value ;;
            notice.endsBy=*) r_notice=$value ;;
            notice.reason=*) r_notice_reason=$value ;;
        esac
    done <"$reply"
    is_number "${r_waited%%.*}" || r_waited=0
    is_number "${r_eta%%.*}" || r_eta=''
}

# Leaves what went wrong with the last call in `code`, `message` and `hint`.
read_problem() {
    read_reply
    if [ "$status" = 000 ]; then
        code=unreachable
        curl_says=$(cat "$reply.error")
        case $curl_code in
            6) why='no such host' ;;
            7) why='connection refused' ;;
            28) rough "$answer_in" && why="no answer within $text" ;;
            18 | 52 | 55 | 56) why='the connection was cut' ;;
            60) why='this machine does not trust the authority that signed its certificate' ;;
            *) why=${curl_says#curl: } ;;
        esac
        message="Cannot reach the server at $server: $why"
        hint='Check --server or BERTH_URL, and that the server runs'
        [ "$curl_code" -ne 60 ] || hint='Name the certificate of the authority: --ca-file FILE or BERTH_CA_FILE'
    elif [ -n "$r_code" ] && [ -n "$r_detail" ] && [ -n "$r_hint" ]; then
        code=$r_code message=$r_detail hint=$r_hint
    else
        code=unexpected_reply
        message="Cannot use the server's reply: status $status without a problem document"
        hint='Check that the address is that of a Berth server and that no proxy answers instead'
    fi
}

is_temporary() {
    case $status in 000 | 429 | 502 | 503 | 504) return 0 ;; *) return 1 ;; esac
}

# Whether the problem says that the lease or the request has ended.
is_gone() {
    case $code in lease_ended | lease_not_found | request_ended) return 0 ;; *) return 1 ;; esac
}

# Leaves the exit code of the problem in `exit_code`.
to_exit_code() {
    case $code:$status in
        lease_ended:*) exit_code=76 ;;
        unreachable:* | unexpected_reply:* | *:429 | *:5??) exit_code=69 ;;
        *:404 | *:410) exit_code=66 ;;
        *:400) exit_code=64 ;;
        *) exit_code=77 ;;
    esac
}

# Leaves the pause after this many failures in `ms`. Half of it depends on the moment, so that the clients
# do not all come back at the same time after a restart.
to_backoff() {
    ms=200 doubled=0
    while [ "$doubled" -lt "$1" ] && [ "$ms" -lt 5000 ]; do
        ms=$((ms * 2)) doubled=$((doubled + 1))
    done
    [ "$ms" -le 5000 ] || ms=5000
    tick
    ms=$((ms / 2 + (now + $$ * 37) % (ms / 2)))
}

# A message about a retry, which nobody needs at the end.
say() {
    [ -n "$quiet" ] || note "$@"
}

# persist LIMIT-MS METHOD PATH MS [BODY-FILE]: repeats a call until it succeeds, fails for good, or the time
# is over. Fails then, with the problem read.
persist() {
    limit_ms=$1 p_method=$2 p_path=$3 p_ms=$4 p_body=${5:-}
    tick
    started=$now failures=0
    while :; do
        call "$p_method" "$p_path" "$p_ms" "$p_body"
        [ -z "$caught" ] || return 1
        case $status in
            2??)
                [ -z "$retrying" ] || say 'berth: The server answers again'
                retrying=''
                read_reply
                return 0
                ;;
        esac
        read_problem
        tick
        is_temporary && [ $((now - started)) -lt "$limit_ms" ] || return 1
        [ -n "$retrying" ] || say "berth: $message; retrying"
        retrying=yes
        to_backoff "$failures"
        [ "$retry_after" -le 5000 ] || retry_after=5000
        [ "$retry_after" -le "$ms" ] || ms=$retry_after
        left=$((limit_ms - now + started))
        [ "$ms" -le "$left" ] || ms=$left
        pause "$ms"
        failures=$((failures + 1))
        # After a failure poll without a wait, to report the recovery at once.
        p_path=${p_path%%\?wait=*} p_ms=$answer_ms
    done
}

# ---- who calls ----

# Leaves the caller's own token in `bearer`. It is read before each use, because files of tokens are replaced.
own_token() {
    bearer=''
    if [ -n "$token_file" ]; then
        read_token --token-file "$token_file"
    elif [ -n "${BERTH_TOKEN:-}" ] && ! is_lease_token; then
        bearer=$BERTH_TOKEN
        is_token "$bearer" || fail 64 'Cannot use BERTH_TOKEN: it is not a token' 'Ask an operator for one'
    elif [ -n "${BERTH_TOKEN_FILE:-}" ]; then
        read_token BERTH_TOKEN_FILE "$BERTH_TOKEN_FILE"
    elif [ -n "${BERTH_ID_TOKEN:-}" ]; then
        bearer=$BERTH_ID_TOKEN
        is_token "$bearer" || fail 64 'Cannot use BERTH_ID_TOKEN: it is not a token' 'Check the variable'
    elif [ -n "${ACTIONS_ID_TOKEN_REQUEST_TOKEN:-}" ] && [ -n "${ACTIONS_ID_TOKEN_REQUEST_URL:-}" ]; then
        github_token
    fi
}

# Inside of a run, BERTH_TOKEN is the lease's token unless the caller had one of its own.
is_lease_token() {
    [ -n "${BERTH_LEASE_ID:-}" ] && [ "${BERTH_LEASE_TOKEN:-$BERTH_TOKEN}" = "$BERTH_TOKEN" ]
}

# read_token NAME FILE
read_token() {
    [ -r "$2" ] || bad "$1" "$2" 'it cannot be read' 'Check the path and its rights'
    read -r bearer _ <"$2"
    bearer=${bearer%"$(printf '\r')"}
    is_token "$bearer" || bad "$1" "$2" 'it has no token' 'Check the content of the file'
}

# GitHub gives a job with the permission id-token: write an address that signs tokens for any audience.
github_token() {
    case $ACTIONS_ID_TOKEN_REQUEST_URL,$server in
        https://*,https://* | http://127.0.0.1[:/]*,http://127.0.0.1*) ;;
        *) return 0 ;; # Others could read the token on its way.
    esac
    is_token "$ACTIONS_ID_TOKEN_REQUEST_TOKEN" || return 0
    {
        printf 'header = "Authorization: Bearer %s"\n' "$ACTIONS_ID_TOKEN_REQUEST_TOKEN"
        printf 'data-urlencode = "audience=%s"\n' "${BERTH_AUDIENCE:-$server}"
    } | curl -q -fsS -K - -G --max-time 10 "$ACTIONS_ID_TOKEN_REQUEST_URL" >"$reply" 2>"$reply.error"
    found=$(cat "$reply")
    found=${found#*\"value\"}
    found=${found#*\"}
    bearer=${found%%\"*}
    is_token "$bearer" && return 0
    bearer=''
    fail 69 "Cannot get an id token of GitHub Actions: $(cat "$reply.error")" \
        'Give the job the permission id-token: write, or set BERTH_TOKEN'
}

# Leaves the name of the CI build, or user and host, in `holder`.
default_holder() {
    if [ -n "${GITHUB_REPOSITORY:-}" ] && [ -n "${GITHUB_JOB:-}" ] && [ -n "${GITHUB_RUN_ID:-}" ]; then
        holder=$GITHUB_REPOSITORY/$GITHUB_JOB/$GITHUB_RUN_ID
    elif [ -n "${CI_PROJECT_PATH:-}" ] && [ -n "${CI_JOB_NAME:-}" ] && [ -n "${CI_JOB_ID:-}" ]; then
        holder=$CI_PROJECT_PATH/$CI_JOB_NAME/$CI_JOB_ID
    elif [ -n "${JOB_NAME:-}" ] && [ -n "${BUILD_ID:-${BUILD_NUMBER:-}}" ]; then
        holder=$JOB_NAME/${BUILD_ID:-$BUILD_NUMBER}
    elif [ -n "${BUILDKITE_PIPELINE_SLUG:-}" ] && [ -n "${BUILDKITE_BUILD_NUMBER:-}" ]; then
        holder=$BUILDKITE_PIPELINE_SLUG/$BUILDKITE_BUILD_NUMBER
    elif [ -n "${CIRCLE_PROJECT_REPONAME:-}" ] && [ -n "${CIRCLE_BUILD_NUM:-}" ]; then
        holder=$CIRCLE_PROJECT_REPONAME/$CIRCLE_BUILD_NUM
    else
        holder=$(id -un 2>/dev/null || echo "uid-$(id -u 2>/dev/null)")@$(uname -n 2>/dev/null)/$1
    fi
    while [ "${#holder}" -gt 256 ]; do holder=${holder%?}; done
}

new_request_id() {
    if [ -r /proc/sys/kernel/random/uuid ]; then
        read -r request_id </proc/sys/kernel/random/uuid
    else
        request_id=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    fi
}

# ---- the request ----

# Adds POOL[,POOL][:N] to `pools`, which has a line `NAMES COUNT` for each.
add_pool() {
    names=${1%%:*} count=1 wrong=''
    case $1 in *:*) count=${1#*:} ;; esac
    case ,$names, in *,,* | *[[:space:]]*) wrong=yes ;; esac
    case $count in '' | *[!0-9]*) wrong=yes ;; esac
    [ -z "$wrong" ] || bad --pool "$1" 'it is not POOL or POOL:COUNT' \
        'Write it like aws-account or vm:2, or east,west for any of these'
    case $count in 0* | ?????*) bad --pool "$1" 'its count is out of range' 'Use a count from 1 to 1000' ;; esac
    [ "$count" -le 1000 ] || bad --pool "$1" 'its count is out of range' 'Use a count from 1 to 1000'
    summed='' known=''
    while read -r other many; do
        [ -n "$other" ] || continue
        if [ "$other" = "$names" ]; then many=$((many + count)) known=yes; fi
        summed="$summed$other $many
"
    done <<END
$pools
END
    [ -n "$known" ] || summed="$summed$names $count
"
    pools=$summed
}

# Leaves the items of the request in `items`, their names for the log in `shown`.
to_items() {
    items='' shown='' kinds=0 suffixes=' '
    while read -r names count; do
        [ -n "$names" ] || continue
        kinds=$((kinds + 1))
        case $names in
            *,*)
                list='' rest=$names,
                while [ -n "$rest" ]; do
                    list=$list,$(json "${rest%%,*}")
                    refuse_clash "${rest%%,*}"
                    rest=${rest#*,}
                done
                items="$items,{\"anyOf\":[${list#,}],\"count\":$count$placement}"
                shown="$shown $(printf %s "$names" | tr , '|')"
                ;;
            *)
                refuse_clash "$names"
                items="$items,{\"pool\":$(json "$names"),\"count\":$count$placement}"
                shown="$shown $names"
                ;;
        esac
    done <<END
$pools
END
    items=${items#,} shown=${shown# }
    [ "$kinds" -gt 0 ] || fail 64 "Cannot $1: no pool is given" 'Add --pool POOL; list them: sh client.sh status'
    [ "$kinds" -eq 1 ] || [ -z "$placement" ] ||
        fail 64 'Cannot use --amount, --selector, --resource or --parameter: the request has several pools' 'Request one pool'
}

refuse_clash() {
    to_suffix "$1"
    case $suffixes in
        *" $suffix "*)
            fail 64 "Cannot request $1 and another pool together: both would set BERTH_RESOURCE_$suffix" \
                'Rename one of the pools, or use two nested runs'
            ;;
    esac
    suffixes="$suffixes$suffix "
}

# Writes the request to the file $dir/ask.
write_ask() {
    [ -n "$holder" ] || default_holder "$1"
    ask="{\"items\":[$items],\"holder\":$(json "$holder"),\"requestId\":$(json "$request_id")"
    [ -z "$ttl" ] || ask="$ask,\"ttl\":\"$ttl\""
    [ -z "$lifetime" ] || ask="$ask,\"lifetime\":\"$lifetime\""
    case $priority in
        '') ;;
        *[!0-9-]* | *?-*) ask="$ask,\"priority\":$(json "$priority")" ;;
        *) ask="$ask,\"priority\":$priority" ;;
    esac
    [ -z "$labels" ] || ask="$ask,\"labels\":{${labels#,}}"
    printf '%s}' "$ask" >"$dir/ask"
}

# Acquires the lease. Fails with the problem read and nothing left in the queue.
acquire_lease() {
    tick
    asked_at=$now asks=0 given_id=$request_id
    while :; do
        asks=$((asks + 1))
        [ -n "$request_id" ] || new_request_id
        write_ask "$1"
        ask_and_wait && return 0
        [ -z "$caught" ] && [ "$asks" -lt "$asks_max" ] || break
        if [ "$code" = request_not_found ]; then
            continue # A server without a journal has lost the request. Sending the same id is safe.
        elif [ "$code" = request_ended ] && [ -z "$given_id" ]; then
            case $r_how in abandoned | disconnected | expired) request_id='' ;; *) break ;; esac
        else
            break
        fi
    done
    leave
    return 1
}

# Leaves the time until --timeout in `left`.
to_left() {
    tick
    left=$outage_ms
    [ -z "$timeout" ] || left=$((asked_at + timeout - now))
}

# Leaves how long to retry in `ms`: `ms` itself, or until --timeout.
until_timeout() {
    to_left
    [ "$left" -ge 0 ] || left=0
    [ -z "$timeout" ] || [ "$ms" -le "$left" ] || ms=$left
}

ask_and_wait() {
    lease_id='' lease_token='' last_line='' last_at='' maybe_known=''
    own_token
    ms=$connect_timeout
    until_timeout
    if ! persist "$ms" POST /v1/leases "$answer_ms" "$dir/ask"; then
        # Only a connection that was never made proves that the server does not know the request.
        ! is_temporary || case $status:$curl_code in 000:[67]) ;; *) maybe_known=yes ;; esac
        return 1
    fi
    maybe_known=''
    if ! is_id "$r_id" || ! is_token "$r_token"; then
        code=unexpected_reply message="Cannot use the server's reply: it has no lease"
        hint='Check that the address is that of a Berth server and that no proxy answers instead'
        return 1
    fi
    lease_id=$r_id lease_token=$r_token bearer=$r_token
    wait_in_queue
}

# Polls until the request is granted. Fails with the problem read.
wait_in_queue() {
    while [ "$status" = 202 ]; do
        show_wait
        to_left
        if [ "$left" -le 0 ]; then
            leave_at_timeout
            return
        fi
        wait_ms=$poll_ms
        [ -z "$timeout" ] || [ "$wait_ms" -le "$left" ] || wait_ms=$left
        ms=$outage_ms
        until_timeout
        persist "$ms" GET "/v1/requests/$lease_id?wait=${wait_ms}ms" $((wait_ms + answer_ms)) && continue
        to_left
        if is_temporary && [ -n "$timeout" ] && [ "$left" -le 0 ]; then not_granted; fi
        return 1
    done
}

# Prints the wait: a change at most once a minute, and a line at least every five minutes, because many CI
# systems stop a build without output.
show_wait() {
    now_waits="$r_position $r_reason"
    last_position=$r_position last_reason=$r_reason
    tick
    if [ -n "$last_at" ]; then
        due=60000
        [ "$now_waits" != "$last_line" ] || due=300000
        # A step that only waits shows every change of its place, and of the phase of its cluster.
        [ "$verb" != wait ] || [ "$r_position $r_why" = "$last_phase" ] || due=0
        [ $((now - last_at)) -ge "$due" ] || return 0
    fi
    last_at=$now last_line=$now_waits last_phase="$r_position $r_why"
    rough "${r_waited%%.*}000"
    wait_text="waiting $text · position $r_position"
    if [ -n "$r_eta" ]; then
        rough "${r_eta%%.*}000"
        if [ "$text" = 0s ]; then wait_text="$wait_text · any moment"; else wait_text="$wait_text · about $text"; fi
    fi
    note "$wait_text · $r_reason"
}

not_granted() {
    rough "$timeout"
    code=not_granted status=075
    message="Cannot get the lease: not granted within $text (position $last_position). $last_reason"
    hint='Wait longer, or request less'
}

# Leaves the queue. If the request was granted at the last moment, the lease is used.
leave_at_timeout() {
    call DELETE "/v1/requests/$lease_id" "$leave_ms"
    case $status in
        2??) ;;
        *)
            read_problem
            if [ "$code" = request_granted ]; then
                persist "$answer_ms" GET "/v1/requests/$lease_id" "$answer_ms" && [ "$status" = 200 ] && return 0
            fi
            ;;
    esac
    lease_id=''
    not_granted
    return 1
}

# Leaves the queue after a signal or a failure, and releases what was granted meanwhile. A person who has pressed
# Ctrl-C does not wait for long. If it fails, the server drops the request or the lease after its ttl.
leave() {
    [ -n "$lease_id$caught$maybe_known" ] || return 0
    problem_code=$code problem_message=$message problem_hint=$hint problem_status=$status
    interrupted_by=$caught caught='' quiet=yes leave_for=$leave_ms
    if [ -z "$interrupted_by" ]; then
        leave_for=$connect_timeout
        [ "$leave_for" -le "$release_ms" ] || leave_for=$release_ms
        [ "$leave_for" -ge "$leave_ms" ] || leave_for=$leave_ms
        rough "$leave_for"
        [ -z "$maybe_known" ] ||
            note "berth: The server may have granted the request; trying to release it for $text"
    fi
    if [ -z "$lease_id" ]; then
        # The response to the request is missing, so it may be queued. Send it again to learn its id.
        own_token
        persist "$leave_for" POST /v1/leases "$leave_ms" "$dir/ask"
        ! is_id "$r_id" || lease_id=$r_id lease_token=$r_token
    fi
    if [ -n "$lease_id" ]; then
        bearer=$lease_token
        persist "$leave_for" DELETE "/v1/requests/$lease_id" "$leave_ms" || {
            [ "$code" != request_granted ] || persist "$leave_for" DELETE "/v1/leases/$lease_id" "$leave_ms"
        }
    fi
    lease_id='' caught=$interrupted_by quiet=''
    code=$problem_code message=$problem_message hint=$problem_hint status=$problem_status
}

# Ends the script after an acquire that failed.
fail_acquire() {
    [ -z "$caught" ] || exit $((128 + caught))
    [ "$code" != not_granted ] || fail 75 "$message" "$hint"
    to_exit_code
    fail "$exit_code" "$message" "$hint"
}

# ---- the lease ----

# Reads the reply with the lease: `claims` has a line `POOL SUFFIX FENCE ID CLUSTER RESOURCE` for each claim, `ttl_ms`,
# `margin_ms` and `ends_ms` (after the grant; empty: never) say how long it lives.
read_lease() {
    claims='' c_pool='' c_id='' c_cluster=no c_fence='' c_resource='' last_pool=''
    while IFS= read -r line; do
        case $line in claims.*) ;; *) continue ;; esac
        value=${line#*=} field=${line%%=*}
        # The whole path: a label may be called `pool`.
        case ${field#claims.*.} in
            id)
                add_claim
                c_id=$value
                ;;
            pool) c_pool=$value ;;
            resource) c_resource=$value ;;
            fence) ! is_number "$value" || c_fence=$value ;;
            cluster) [ "$value" != true ] || c_cluster=yes ;;
        esac
    done <"$reply"
    add_claim
    to_ms "$r_ttl" && [ "$ms" -gt 0 ] || fail 1 "Cannot keep lease $lease_id: its ttl is not a duration" 'Report it'
    ttl_ms=$ms
    ends_ms=''
    if to_instant "$r_ends"; then
        ends_ms=$ms
        to_instant "$r_granted"
        ends_ms=$((ends_ms - ms))
    fi
    most=$((ttl_ms / 3))
    [ -z "$ends_ms" ] || [ "$most" -le $((ends_ms / 3)) ] || most=$((ends_ms / 3))
    margin_ms=$((ttl_ms / 10))
    [ "$margin_ms" -le 30000 ] || margin_ms=30000
    [ "$margin_ms" -ge "$grace" ] || margin_ms=$grace
    [ "$margin_ms" -le "$most" ] || margin_ms=$most
}

add_claim() {
    [ -n "$c_id" ] || return 0
    if [ "$c_pool" != "$last_pool" ]; then
        decode "$c_pool"
        to_suffix "$text"
        last_pool=$c_pool
    fi
    claims="$claims$c_pool $suffix $c_fence $c_id $c_cluster $c_resource
"
    c_id='' c_cluster=no
}

# Exports the variables of the lease.
export_lease() {
    if [ -n "$token_file" ]; then
        case $token_file in /*) ;; *) token_file=$PWD/$token_file ;; esac
        export BERTH_TOKEN="$lease_token" BERTH_TOKEN_FILE="$token_file"
    else
        own=${BERTH_TOKEN_FILE:-}${BERTH_ID_TOKEN:-}
        [ -z "${BERTH_TOKEN:-}" ] || is_lease_token || own=yes
        [ -n "$own" ] || export BERTH_TOKEN="$lease_token"
    fi
    export BERTH_LEASE_ID="$lease_id" BERTH_LEASE_TOKEN="$lease_token" BERTH_URL="$server"
    each_pool export_pool
}

# Calls a function for each pool of the lease, with its name, its suffix, its resources and its fences.
each_pool() {
    done_pools=' '
    while read -r pool suffix _; do
        [ -n "$pool" ] || continue
        case $done_pools in *" $suffix "*) continue ;; esac
        done_pools="$done_pools$suffix "
        resources='' fences='' many=0
        while read -r _ other fence _ _ resource; do
            [ "$other" = "$suffix" ] || continue
            resources="$resources $resource" fences="$fences $fence" many=$((many + 1))
        done <<END
$claims
END
        "$1" "$pool" "$suffix" "${resources# }" "${fences# }" "$many"
    done <<END
$claims
END
}

export_pool() {
    decode "$3"
    export "BERTH_RESOURCE_$2=$text" "BERTH_FENCE_$2=$4"
}

say_acquired() {
    note "Acquired $5 lease(s) for $1: [$3]"
}

all_resources() {
    every="$every $3"
}

# Writes the lease as JSON, with its token and the address of the server.
write_lease_file() {
    accept=application/json bearer=$lease_token
    persist "$ttl_ms" GET "/v1/leases/$lease_id" "$answer_ms"
    wrote=$?
    accept=text/plain
    [ "$wrote" -eq 0 ] || return 1
    IFS= read -r document <"$reply"
    case $document in '{'*'}') ;; *) code=unexpected_reply && return 1 ;; esac
    document="{\"url\":\"$server\",\"token\":\"$lease_token\",${document#?}"
}

# Reads the access to the clusters of the lease into private files.
write_access() {
    kubeconfigs='' passwords='' access_ends=''
    while read -r pool suffix _ claim cluster _; do
        [ "$cluster" = yes ] && is_id "$claim" || continue
        persist "$access_ms" GET "/v1/leases/$lease_id/claims/$claim/access" "${access_answer:-$answer_ms}" || return 1
        while IFS= read -r line; do
            case $line in
                kubeconfig=* | password=?*) replace_file "$dir/$claim.${line%%=*}" "${line#*=}" ;;
                expiresAt=?*) access_ends=${line#*=} ;;
            esac
        done <"$reply"
        [ -z "$access_ends" ] || [ -z "$renews" ] || note "berth: the access to $pool ends at $access_ends; $renews"
        kubeconfigs="$kubeconfigs$suffix $dir/$claim.kubeconfig
"
        [ ! -e "$dir/$claim.password" ] || passwords=${passwords:-$dir/$claim.password}
    done <<END
$claims
END
}

# replace_file PATH TEXT: whoever reads the file meanwhile gets the old text or the new one.
replace_file() {
    (umask 077 && printf %b "$2" >"$1.part" && mv -f "$1.part" "$1")
}

# In the background of `run`, after a heartbeat. Access that does not end is read once.
renew_files() {
    [ -n "$access_ends" ] || return 0
    ended_at=$access_ends access_ms=0 access_answer=$answer_in
    write_access && return 0
    access_ends=$ended_at
    note "berth: Cannot renew the access: $message; retrying"
}

export_access() {
    [ -n "$kubeconfigs" ] || return 0
    paths='' seen=' '
    while read -r suffix path; do
        [ -n "$suffix" ] || continue
        paths="$paths:$path" own=''
        case $seen in *" $suffix "*) continue ;; esac
        seen="$seen$suffix "
        while read -r other file; do
            [ "$other" != "$suffix" ] || own="$own $file"
        done <<END
$kubeconfigs
END
        export "BERTH_KUBECONFIG_$suffix=${own# }"
    done <<END
$kubeconfigs
END
    export KUBECONFIG="${paths#:}"
    [ -z "$passwords" ] || export KUBEADMIN_PASSWORD_FILE="$passwords"
}

# Releases the lease. Leaves `released` or `gone` in `outcome`; fails if neither is known.
# release LIMIT-MS PATH
release() {
    bearer=$lease_token quiet=yes
    ms=$1
    [ "$ms" -ge 2000 ] || ms=2000
    [ "$ms" -le "$answer_ms" ] || ms=$answer_ms
    if persist "$1" DELETE "$2" "$ms"; then
        outcome=released
    elif [ -z "$caught" ] && is_gone; then
        outcome=gone
    else
        return 1
    fi
}

# ---- heartbeats ----

# Sends one heartbeat. Leaves in `beat`: ok, failed, or ended. `alive` is when the last one that was
# answered was sent: the server counts from its arrival, so our time is never longer than the server's.
heartbeat_once() {
    tick
    sent=$now
    answer_in=$((ttl_ms / 3))
    [ "$answer_in" -ge 1000 ] || answer_in=1000
    [ "$answer_in" -le "$answer_ms" ] || answer_in=$answer_ms
    [ $((due - now)) -ge "$answer_in" ] || answer_in=$((due - now))
    [ "$answer_in" -ge 500 ] || answer_in=500
    call POST "/v1/leases/$lease_id/heartbeat" "$answer_in" /dev/null
    case $status in
        200) read_reply ;;
        *) read_problem ;;
    esac
    case $status:$code in
        200:*)
            beat=ok
            shorten_lifetime
            ;;
        *:journal_unavailable) beat=ok ;; # The server cannot expire leases either.
        *:lease_ended | *:lease_not_found | *:request_ended | *:token_wrong | *:token_missing) beat=ended ;;
        *) beat=failed ;;
    esac
    [ "$beat" != ok ] || alive=$sent
    to_due
}

# An operator may have given the lease an earlier end. The server's clock was `expiresAt` minus the ttl.
shorten_lifetime() {
    to_instant "$r_ends" || return 0
    end=$ms
    to_instant "$r_expires" || return 0
    end=$((sent + end - ms + ttl_ms))
    [ -n "$ends" ] && [ "$ends" -le "$end" ] || ends=$end
}

# Leaves in `due` when the holder must begin to stop.
to_due() {
    due=$((alive + ttl_ms - margin_ms)) due_by=contact
    [ -n "$ends" ] && [ $((ends - margin_ms)) -lt "$due" ] || return 0
    due=$((ends - margin_ms)) due_by=lifetime
}

# Leaves the reason of the loss in `lost`, its kind in `lost_by`.
explain_loss() {
    if [ "$beat" = ended ]; then
        lost_by=ended lost="Cannot keep lease $lease_id: ${message#Cannot *: }"
    elif [ "$due_by" = lifetime ]; then
        lost_by=lifetime lost="Cannot keep lease $lease_id: it reaches its lifetime"
    else
        rough $((now - alive))
        lost_by=noContact
        lost="Cannot keep lease $lease_id: no heartbeat succeeded for $text of its ttl $lease_ttl"
    fi
}

# Sends heartbeats until the first one is answered, or the lease is lost. Fails then.
confirm() {
    tick
    alive=$now ends='' failures=0
    [ -z "$ends_ms" ] || ends=$((now + ends_ms))
    bearer=$lease_token
    to_due
    while :; do
        heartbeat_once
        [ "$beat" != ok ] || return 0
        tick
        if [ -n "$caught" ] || [ "$beat" = ended ] || [ "$now" -ge "$due" ]; then return 1; fi
        to_backoff "$failures"
        failures=$((failures + 1))
        [ "$ms" -le $((due - now)) ] || ms=$((due - now))
        pause "$ms"
    done
}

# Runs in the background: heartbeats until it is ended, and the end of the command if the lease is lost. The
# pause between two heartbeats is a long poll, which ends at once when the lease is lost.
keep() {
    trap 'ending=yes; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM
    # PIPE: if nobody reads its notes any longer, it must still stop the command of a lost lease.
    trap '' INT QUIT HUP USR1 USR2 TSTP PIPE
    trap - EXIT
    : >"$dir/ready"
    reply=$dir/keep failures=0 noticed='' logged='' beat=ok retry_ms=$((ttl_ms / 12))
    while [ -z "$ending" ]; do
        if [ "$beat" = ok ]; then watch_lease; else pause_after_failure; fi
        was=$beat
        heartbeat_once
        tick
        if [ "$beat" = ok ]; then
            failures=0
            [ "$was" = ok ] || [ -z "$logged" ] || note 'berth: Heartbeats work again'
            [ "$was" = ok ] || logged=''
            notice
            renew_files
        elif [ "$beat" = failed ]; then
            failures=$((failures + 1))
            log_failure
        fi
        if [ "$beat" = ended ] || [ "$now" -ge "$due" ]; then lose && return; fi
    done
}

log_failure() {
    [ -z "$logged" ] || [ $((now - logged)) -ge 60000 ] || return 0
    logged=$now
    rough $((alive + ttl_ms - now))
    note "berth: $message; retrying, the lease expires in $text without a heartbeat"
}

pause_after_failure() {
    to_backoff "$failures"
    [ "$ms" -le "$retry_ms" ] || ms=$retry_ms
    tick
    [ "$ms" -le $((due - now)) ] || ms=$((due - now))
    pause "$ms"
}

# Waits for a third of the ttl, or until the server says that the lease is lost or taken back.
watch_lease() {
    tick
    until=$((alive + ttl_ms / 3))
    # Access that ends lasts for ten minutes at least.
    [ -z "$access_ends" ] || [ "$until" -le $((now + 180000)) ] || until=$((now + 180000))
    [ "$until" -le "$due" ] || until=$due
    while [ "$now" -lt "$until" ]; do
        wait_ms=$((until - now))
        call GET "/v1/leases/$lease_id?wait=${wait_ms}ms" $((wait_ms + 1000))
        read_reply
        case $status in
            200) [ -z "$r_revoked" ] && { [ -z "$r_notice" ] || [ -n "$noticed" ]; } || return 0 ;;
            404 | 410) return 0 ;;
        esac
        tick
        # The call ended early, or failed: the rest of the time passes without it.
        [ $((until - now)) -le 100 ] || pause $((until - now))
        tick
    done
}

notice() {
    [ -n "$r_notice" ] && [ -z "$noticed" ] || return 0
    noticed=yes
    note "berth: NOTICE. The lease ends by $r_notice: $r_notice_reason; stopping $name"
    signal TERM
}

# The lease is lost: stops the command, before others get its resources. Fails if the command may go on.
lose() {
    explain_loss
    if [ "$fail_open" = always ] || { [ "$fail_open" = outage ] && [ "$lost_by" = noContact ]; }; then
        note "berth: $lost; CONTINUING WITHOUT A LEASE (--fail-open)"
        fail_open=always due=$((now + 86400000)) margin_ms=-86400000
        [ "$lost_by" != ended ] || exit 0
        return 1
    fi
    printf '%s\n' "$lost_by" >"$dir/lost"
    note "berth: LEASE LOST. $lost; stopping $name"
    left=$((alive + ttl_ms - now))
    # Shorter than the default lock-delay of 15s, in which the pool does not lend the resource again.
    [ "$lost_by" != ended ] || left=10000
    [ "$left" -le "$grace" ] || left=$grace
    signal TERM
    signal CONT
    stop_by=$((now + left))
    while signal 0 && [ "$now" -lt "$stop_by" ]; do
        pause 100
        tick
    done
    signal KILL
    return 0
}

# Sends a signal to the command and to all processes of its group.
signal() {
    read -r pid <"$dir/pid" || return 1
    kill -s "$1" -- "-$pid" 2>/dev/null || kill -s "$1" "$pid" 2>/dev/null
}

# ---- run ----

# Fails if the command cannot be started, before anything is sent: a typing error must not cost an hour in
# the queue.
require_executable() {
    state=none
    case $1 in
        */*) check_file "$1" ;;
        *)
            path=$PATH:
            while [ -n "$path" ] && [ "$state" != ok ]; do
                check_file "${path%%:*}/$1"
                path=${path#*:}
            done
            ;;
    esac
    [ "$state" != none ] ||
        fail 127 "Cannot run $1: command not found" 'Check the name and PATH'
    [ "$state" = ok ] ||
        fail 126 "Cannot run $1: it is not executable" 'Check that it is a program, and make it executable: chmod +x'
}

check_file() {
    [ -e "$1" ] || return 0
    if [ -f "$1" ] && [ -x "$1" ]; then state=ok; else state=unusable; fi
}

run() {
    [ $# -gt 0 ] || fail 64 'Cannot run: no command is given' 'Add it after --, as in run --pool POOL -- make test'
    require_executable "$1"
    [ -n "$name" ] || name=${1##*/}
    to_items run
    catch_signals
    note "Acquiring leases for test $name: [$shown]"
    if ! acquire_lease "$name"; then
        may_fail_open || fail_acquire
        note "berth: $message"
        [ "$fail_open" = outage ] || note "  $hint"
        open_flag=--fail-open
        [ "$fail_open" = outage ] || open_flag=--fail-open-always
        note "berth: RUNNING WITHOUT A LEASE ($open_flag): others may use the same resources"
        run_without_lease "$@"
    fi
    read_lease
    lease_ttl=$r_ttl
    each_pool say_acquired
    if ! confirm; then
        abandon_lease
    fi
    write_lease_file && write_access || {
        [ -z "$caught" ] || abandon_lease
        release "$release_ms" "/v1/leases/$lease_id"
        lease_id=''
        to_exit_code
        fail "$exit_code" "$message" "$hint"
    }
    (umask 077 && printf '%s\n' "$document" >"$dir/lease.json")
    guard
    start_command "$@"
    await_command
    finish
}

may_fail_open() {
    [ -z "$caught" ] || return 1
    case $fail_open:$status in
        always:400) return 1 ;;
        always:* | outage:000 | outage:5??) return 0 ;;
        *) return 1 ;;
    esac
}

# The lease was lost, or a signal came, before the command was started.
abandon_lease() {
    by=$caught caught=''
    tick
    if [ -z "$by" ]; then
        explain_loss
        note "berth: LEASE LOST. $lost; $name is not started"
    fi
    release "$leave_ms" "/v1/leases/$lease_id"
    lease_id=''
    [ -z "$by" ] || exit $((128 + by))
    exit 76
}

# A shell that is killed runs no trap. The guard then ends the heartbeats, so that the lease expires: its end
# of the pipe is closed when the last process that has the other end is gone, which is this shell.
guard() {
    mkfifo "$dir/alive" || exit 1
    exec 8<>"$dir/alive"
    : >"$dir/pid"
    # Closed by `exec`: for a redirection alone the shell keeps a copy.
    (
        exec 3<&- 8>&-
        keep
    ) &
    keeper=$!
    (
        exec 3<&- 8>&- >/dev/null 2>&1
        trap - EXIT
        trap '' INT QUIT HUP USR1 USR2 TSTP
        read -r _ <"$dir/alive"
        kill "$keeper" 2>/dev/null
        rm -rf "$dir"
    ) &
    guard=$!
}

# Without job control the background ignores INT and QUIT. If `env` cannot change that, TERM is sent instead.
start_command() {
    int=TERM
    if env --default-signal=INT,QUIT true 2>/dev/null; then
        int=''
        set -- env --default-signal=INT,QUIT "$@"
    fi
    if command -v setsid >/dev/null 2>&1; then set -- setsid "$@"; fi
    (
        export_lease
        export_access
        export BERTH_LEASE_FILE="$dir/lease.json"
        trap - TSTP
        exec "$@" <&3 3<&- 8>&-
    ) &
    started_pid=$!
    printf '%s\n' "$started_pid" >"$dir/pid"
    phase='command'
    # A signal, or the loss of the lease, may have come before there was a command. It may still ignore INT.
    [ -z "$caught" ] || forward TERM
    sent_for=$caught_name
    [ ! -e "$dir/lost" ] || signal TERM
}

# Leaves the exit code of the command in `exit_code`.
await_command() {
    while :; do
        interrupted=''
        { wait "$started_pid"; } 2>/dev/null
        exit_code=$?
        # A signal ends `wait` early, with a code above 128. The command may have ended since, so only `wait` can tell.
        [ -n "$interrupted" ] && [ "$exit_code" -gt 128 ] || break
    done
    phase=''
    [ "$exit_code$sent_for" != 143INT ] || exit_code=130
    [ "$exit_code$sent_for" != 143QUIT ] || exit_code=131
}

# Ends the heartbeats and releases the lease. Exits with the code of the command, or 76.
finish() {
    caught=''
    # A signal to a process that has just been forked can get lost.
    while [ ! -e "$dir/ready" ]; do pause 20; done
    # If the lease is lost, the keeper also stops what the command has left behind.
    [ -e "$dir/lost" ] || kill "$keeper" 2>/dev/null
    wait "$keeper" 2>/dev/null
    lost_by=''
    [ ! -e "$dir/lost" ] || read -r lost_by <"$dir/lost"
    [ -z "$lost_by" ] || exit_code=76
    if [ "$lost_by" = ended ]; then
        # A revoked lease keeps its resources until its holder has stopped: this says so.
        bearer=$lease_token
        call DELETE "/v1/leases/$lease_id" "$answer_ms"
    else
        release_after_run
    fi
    lease_id=''
    exit "$exit_code"
}

release_after_run() {
    every=''
    each_pool all_resources
    note "Releasing leases for test $name: [${every# }]"
    # Also when the ttl is over: after a restart the server gives every lease a full ttl again.
    if ! release "$release_ms" "/v1/leases/$lease_id"; then
        [ -z "$caught" ] || message='interrupted by a signal'
        note "berth: Cannot release lease $lease_id: $message"
        note "  It expires $lease_ttl after its last heartbeat, or after the server is back"
    elif [ "$outcome" = gone ] && [ "$fail_open" = never ] && [ "$exit_code" -ne 76 ]; then
        note "berth: LEASE LOST before $name exited with $exit_code. Do not trust its result"
        exit_code=76
    fi
}

# Runs the command without a lease, and without the variables of an outer run, whose lease is not for it.
run_without_lease() {
    if [ -n "${BERTH_LEASE_ID:-}" ] && [ -n "${BERTH_TOKEN:-}" ] && is_lease_token; then unset BERTH_TOKEN; fi
    unset BERTH_LEASE_ID BERTH_LEASE_FILE BERTH_LEASE_TOKEN
    export BERTH_FAIL_OPEN=true
    rm -rf "$dir"
    trap - EXIT INT TERM HUP QUIT USR1 USR2 TSTP
    exec "$@" <&3 3<&-
}

# ---- signals ----

catch_signals() {
    trap 'on_signal INT 2' INT
    trap 'on_signal QUIT 3' QUIT
    trap 'on_signal HUP 1' HUP
    trap 'on_signal TERM 15' TERM
    trap 'on_signal USR1 10' USR1
    trap 'on_signal USR2 12' USR2
    # Ctrl-Z would stop the heartbeats, and not the command.
    trap '' TSTP
}

# While the command runs, it gets every signal. Before, a signal that ends a process ends the wait.
on_signal() {
    interrupted=yes
    if [ "$phase" = command ]; then
        forward "$1"
    else
        case $1 in USR*) return 0 ;; esac
        caught=$2 caught_name=$1
        [ -z "$child" ] || kill "$child" 2>/dev/null
    fi
}

forward() {
    sent_for=''
    case $1 in
        INT | QUIT)
            [ -z "$int" ] || sent_for=$1
            signal "${int:-$1}"
            ;;
        *) signal "$1" ;;
    esac
}

# ---- the steps of a pipeline ----

need_request_id() {
    [ -n "$request_id" ] || fail 64 "Cannot $verb: no request is given" \
        'Add --request-id ID: the same one in every step, and another one in every run'
}

ask() {
    need_request_id
    to_items 'ask for a lease'
    catch_signals
    write_ask ask
    own_token
    persist "$connect_timeout" POST /v1/leases "$answer_ms" "$dir/ask" || fail_acquire
    if ! is_id "$r_id"; then
        fail 69 "Cannot use the server's reply: it has no lease" 'Check that the address is that of a Berth server'
    fi
    printf '%s\n' "$r_id"
    if [ "$status" = 202 ]; then show_wait; else note "Granted $r_id"; fi
}

# Finds the request again. Leaves 200 or 202 in `status`, and its id and token. Fails with the problem read.
resume() {
    need_request_id
    printf '{"requestId":%s}' "$(json "$request_id")" >"$dir/resume"
    own_token
    persist "$1" POST /v1/requests/resume "$answer_ms" "$dir/resume" || return 1
    if ! is_id "$r_id" || ! is_token "$r_token"; then
        code=unexpected_reply message="Cannot use the server's reply: it has no lease" status=000
        hint='Check that the address is that of a Berth server and that no proxy answers instead'
        return 1
    fi
    lease_id=$r_id lease_token=$r_token bearer=$r_token
}

# A signal does not end the request: the step may be tried again, and another one releases it.
wait_for_lease() {
    catch_signals
    tick
    asked_at=$now poll_ms=10000
    resume "$connect_timeout" || fail_acquire
    wait_in_queue || fail_acquire
    read_lease
    each_pool say_acquired >&2
    every=''
    each_pool all_resources
    decode "${every# }"
    printf '%s\n' "$text"
}

access() {
    catch_signals
    need_folder
    resume "$connect_timeout" || fail_acquire
    [ "$status" = 200 ] ||
        fail 75 "Cannot get the access of $lease_id: it waits (position $r_position). $r_reason" 'Wait first'
    read_lease
    write_access || fail_acquire
    hand_over || fail 1 "Cannot write to $(json "$to")" 'Check its rights and its space'
}

need_folder() {
    [ -n "$to" ] || fail 64 "Cannot $verb: no folder is given" 'Add --to DIR, a folder for this job only'
    [ -d "$to" ] || bad --to "$to" 'it is not a folder' 'Make it first'
    to=$(cd "$to" && pwd) || fail 1 "Cannot use --to $(json "$to")" 'Check its rights'
}

# Puts what a job needs into the folder. Each file is whole, or not there; the last one is lease.env.
hand_over() {
    variables="export BERTH_LEASE_ID='$lease_id' BERTH_URL='$server'"
    document=$variables
    each_pool print_pool
    variables=$document number=0 files=''
    while read -r _ path; do
        [ -n "$path" ] || continue
        number=$((number + 1))
        file=kubeconfig
        [ "$number" -eq 1 ] || file=kubeconfig-$number
        put "$file" <"$path" || return 1
        files="$files:$to/$file"
    done <<END
$kubeconfigs
END
    if [ -n "$files" ]; then
        quote "${files#:}"
        variables="$variables KUBECONFIG=$quoted"
    fi
    if [ -n "$passwords" ]; then
        put password <"$passwords" || return 1
        quote "$to/password"
        variables="$variables KUBEADMIN_PASSWORD_FILE=$quoted"
    fi
    write_lease_file || fail_acquire
    printf '%s\n' "$document" | put lease.json && printf '%s\n' "$variables" | put lease.env
}

put() {
    (umask 077 && rm -f "$to/.$1.part" && cat >"$to/.$1.part" && mv -f "$to/.$1.part" "$to/$1")
}

# Beats until the lease has ended. Also while it waits: each beat keeps its place.
keep_request() {
    catch_signals
    [ -z "$to" ] || need_folder
    was_there='' was_lost=''
    while :; do
        if resume "${every:-0}"; then
            was_there=yes
            [ -n "$every" ] || printf '%s is %s\n' "$lease_id" "$([ "$status" = 200 ] && echo held || echo waiting)"
            [ -z "$to" ] || [ "$status" != 200 ] || renew_access
        elif [ -n "$caught" ]; then
            exit $((128 + caught))
        elif [ "$code" = request_ended ]; then
            case $r_how in released | cancelled) ;; *) was_lost=yes ;; esac
            break
        elif [ -z "$every" ] || { ! is_temporary && [ "$code:$was_there" != request_not_found: ]; }; then
            fail_acquire
        fi
        [ -n "$every" ] || return 0
        pause "$every"
        [ -z "$caught" ] || exit $((128 + caught))
    done
    [ -n "$was_lost" ] || { note "$message" && return 0; }
    note "berth: LEASE LOST: $message"
    exit 76
}

# Only access that ends is read again, and only after a step has read it.
renew_access() {
    [ -e "$to/lease.env" ] || return 0
    [ "${access_ends-unknown}" != '' ] || return 0
    read_lease
    if ! write_access || ! hand_over; then note "berth: Cannot renew the access: $message; retrying"; fi
}

release_request() {
    catch_signals
    if resume "$release_ms"; then
        if [ "$status" = 202 ]; then
            quiet=yes
            persist "$release_ms" DELETE "/v1/requests/$lease_id" "$answer_ms" && note "Left the queue: $lease_id" && return
            [ "$code" = request_granted ] || is_gone || fail_acquire
        fi
        BERTH_LEASE_TOKEN=$lease_token
        release_lease "$lease_id"
    elif [ -z "$caught" ] && { is_gone || [ "$code" = request_not_found ]; }; then
        note "Nothing to release: $message"
    else
        fail_acquire
    fi
}

# What people need to understand a failure. Nothing here may fail the step.
logs() {
    catch_signals
    if ! resume "$answer_ms"; then
        note "$message"
        return 0
    fi
    names='' phase_of=$status
    while IFS= read -r line; do
        case $line in
            claims.*.cluster=true) names="$names clusters/$claimed clusters/$claimed/logs" ;;
            claims.*.resource=*) claimed=${line#*=} ;;
            items.*.pool=*) names="$names pools/${line#*=}/plan" ;;
        esac
    done <"$reply"
    own_token
    accept=application/json
    if [ "$phase_of" = 202 ]; then show "explain/$lease_id"; else show "leases/$lease_id"; fi
    for each in $names; do show "$each"; done
}

show() {
    case $1 in *[!A-Za-z0-9._/-]*) return 0 ;; esac
    persist "$answer_ms" GET "/v1/$1" "$answer_ms" || return 0
    printf '== %s\n' "$1"
    cat "$reply"
    echo
}

# ---- the other commands ----

acquire() {
    to_items 'acquire a lease'
    case $output in
        json | env | name) ;;
        *) bad --output "$output" 'it is not a valid choice' 'Use json, env, name' ;;
    esac
    catch_signals
    acquire_lease acquire || fail_acquire
    read_lease
    case $output in
        json) write_lease_file || fail 69 "$message" "$hint" ;;
        env)
            document="export BERTH_LEASE_ID='$lease_id' BERTH_LEASE_TOKEN='$lease_token' BERTH_URL='$server'"
            own_token
            [ -n "$bearer" ] || document="$document BERTH_TOKEN='$lease_token'"
            each_pool print_pool
            ;;
        name) document=$lease_id ;;
    esac
    printf '%s\n' "$document" || exit 1 # The lease is released, because nobody has seen it.
    lease_id=''
}

print_pool() {
    decode "$3"
    quote "$text"
    document="$document BERTH_RESOURCE_$2=$quoted BERTH_FENCE_$2='$4'"
}

# Leaves id and token of the lease in `lease` and `bearer`.
find_lease() {
    lease=${1:-${BERTH_LEASE_ID:-}} bearer=${BERTH_LEASE_TOKEN:-${BERTH_TOKEN:-}}
    [ -n "$lease" ] || fail 64 'Cannot go on: no lease is given' 'Pass its id, or set BERTH_LEASE_ID'
    is_id "$lease" || bad LEASE "$lease" 'it is not the id of a lease' 'Pass an id from sh client.sh acquire -o name'
    is_token "$bearer" || fail 64 "Cannot use $lease: its token is missing" 'Set BERTH_LEASE_TOKEN'
}

send_heartbeats() {
    find_lease "${1:-}"
    catch_signals
    while :; do
        call POST "/v1/leases/$lease/heartbeat" "$answer_ms" /dev/null
        [ -z "$caught" ] || exit $((128 + caught))
        if [ "$status" = 200 ]; then
            read_reply
            printf '%s expires at %s\n' "$r_id" "$r_expires"
        else
            read_problem
            to_exit_code
            [ -n "$every" ] && is_temporary || fail "$exit_code" "$message" "$hint"
            note "berth: $message; retrying"
        fi
        [ -n "$every" ] || return 0
        pause "$every"
        [ -z "$caught" ] || exit $((128 + caught))
    done
}

release_lease() {
    find_lease "${1:-}"
    catch_signals
    lease_token=$bearer
    path=/v1/leases/$lease
    case $new_state in
        '') ;;
        [!A-Za-z]* | *[!A-Za-z0-9_.-]*)
            bad --state "$new_state" 'its form is wrong' 'Use a state such as free or dirty'
            ;;
        *) path="$path?state=$new_state" ;;
    esac
    if ! release "$release_ms" "$path"; then
        [ -z "$caught" ] || exit $((128 + caught))
        to_exit_code
        fail "$exit_code" "$message" "$hint"
    fi
    if [ "$outcome" = gone ]; then note "$lease had already ended"; else note "Released $lease"; fi
}

status() {
    catch_signals
    after=''
    printf '%-32s %6s %6s %6s %8s\n' POOL TOTAL FREE HELD WAITING
    while :; do
        own_token
        persist "$connect_timeout" GET "/v1/pools?limit=1000$after" "$answer_ms" || fail_acquire
        row='' next=''
        while IFS= read -r line; do
            value=${line#*=} field=${line%%=*}
            case ${field#items.*.} in
                name) print_row && row=$value ;;
                total) total=$value ;;
                free) free=$value ;;
                held) held=$value ;;
                waiting) waiting=$value ;;
                next) next=$value ;;
            esac
        done <"$reply"
        print_row
        case $next in '' | *[!A-Za-z0-9._~-]*) break ;; esac
        after="&after=$next"
    done
}

print_row() {
    [ -n "$row" ] || return 0
    printf '%-32s %6s %6s %6s %8s\n' "$row" "$total" "$free" "$held" "$waiting"
}

# ---- options ----

# A label KEY=VALUE as JSON, in `pair`.
to_pair() {
    wrong=''
    case $2 in *=*) ;; *) wrong=yes ;; esac
    case ${2%%=*} in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9] | *[!A-Za-z0-9._/-]*) wrong=yes ;; esac
    [ -z "$wrong" ] || bad "$1" "$2" 'it is not KEY=VALUE' 'Write it like team=payments'
    pair=,$(json "${2%%=*}"):$(json "${2#*=}")
}

# A parameter NAME=VALUE as JSON, in `pair`. A version such as 4.20 is a text: as a number it would become 4.2.
to_parameter() {
    wrong='' value=${2#*=}
    case $2 in *=*) ;; *) wrong=yes ;; esac
    case ${2%%=*} in '' | [!A-Za-z]* | *[!A-Za-z0-9._/-]*) wrong=yes ;; esac
    [ -z "$wrong" ] || bad "$1" "$2" 'it is not NAME=VALUE' 'Write it like version=4.20'
    case $value in
        true | false | 0) ;;
        '' | 0* | *[!0-9]* | ????????????????*)
            case $value in '"'*'"') value=${value#?} && value=${value%?} ;; esac
            value=$(json "$value")
            ;;
    esac
    pair=,$(json "${2%%=*}"):$value
}

# An amount KEY=N as JSON, in `pair`.
to_amount() {
    wrong=''
    case ${2%%=*} in '' | [!A-Za-z]* | *[!A-Za-z0-9._/-]*) wrong=yes ;; esac
    case $2 in *=*) ;; *) wrong=yes ;; esac
    case ${2#*=} in '' | 0* | *[!0-9]* | ????????????????*) wrong=yes ;; esac
    [ -z "$wrong" ] || bad "$1" "$2" 'it is not KEY=NUMBER' 'Write it like vcpus=24'
    pair=,$(json "${2%%=*}"):${2#*=}
}

duration_option() {
    to_ms "$2" || bad "$1" "$2" 'it is not a duration' 'Write it like 90s, 20m, 1h30m or 2d'
}

set_option() {
    case $1 in
        --pool) add_pool "$2" ;;
        --amount) to_amount "$1" "$2" && amounts=$amounts$pair ;;
        --selector) to_pair "$1" "$2" && selectors=$selectors$pair ;;
        --parameter) to_parameter "$1" "$2" && parameters=$parameters$pair ;;
        --to) to=$2 ;;
        --label) to_pair "$1" "$2" && labels=$labels$pair ;;
        --resource) resource_wanted=$(json "$2") ;;
        --holder) holder=$2 ;;
        --ttl) duration_option "$1" "$2" && ttl=$2 ;;
        --lifetime) duration_option "$1" "$2" && lifetime=$2 ;;
        --priority) priority=$2 ;;
        --request-id)
            case $2 in
                '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._:/-]*)
                    bad "$1" "$2" 'its form is wrong' 'Use letters, digits and ._:/- after a letter or digit'
                    ;;
            esac
            request_id=$2
            ;;
        --timeout) duration_option "$1" "$2" && timeout=$ms ;;
        --connect-timeout) duration_option "$1" "$2" && connect_timeout=$ms ;;
        --name) name=$2 ;;
        --grace) duration_option "$1" "$2" && grace=$ms ;;
        --every) duration_option "$1" "$2" && every=$ms ;;
        --state) new_state=$2 ;;
        --server) server=$2 ;;
        --token-file) token_file=$2 ;;
        --ca-file) ca_file=$2 ;;
        -o | --output) output=$2 ;;
        *) fail 64 "Cannot use $(json "$1"): there is no such option" 'See --help, or use the command berth' ;;
    esac
}

check_server() {
    [ -n "$server" ] || fail 64 'Cannot go on: no server is given' 'Set BERTH_URL or add --server URL'
    wrong=yes
    case $server in http://?* | https://?*) wrong='' ;; esac
    case $server in *[!A-Za-z0-9:/._~%\[\]-]*) wrong=yes ;; esac
    [ -z "$wrong" ] ||
        bad --server "$server" 'it is not an http(s) address' 'Write it like http://127.0.0.1:8080'
    while [ "${server%/}" != "$server" ]; do server=${server%/}; done
}

main() {
    set -fu
    server=${BERTH_URL:-$berth_served_by} ca_file=${BERTH_CA_FILE:-} token_file=''
    pools='' amounts='' selectors='' labels='' resource_wanted='' holder='' ttl='' lifetime='' priority=''
    parameters='' to='' last_phase='' last_line='' last_at='' maybe_known='' renews='' access_ms=60000 access_answer=''
    request_id='' timeout='' connect_timeout=30000 name='' grace=30000 every='' new_state='' output=json
    fail_open=never caught='' caught_name='' phase='' child='' ending='' retrying='' quiet='' lease_id='' lease_token='' bearer=''
    accept=text/plain keeper='' guard='' sent_for='' int='' code='' message='' hint='' status=''
    verb=${1:-}
    [ $# -eq 0 ] || shift
    case $verb in
        run | acquire | heartbeat | release | status) ;;
        ask | wait | access | logs) renews='a heartbeat with --to renews it' ;;
        '' | help | -h | --help) usage && exit 0 ;;
        *) fail 64 "Cannot run $(json "$verb"): there is no such command" 'See sh client.sh --help' ;;
    esac
    lease_given=''
    while [ $# -gt 0 ]; do
        case $1 in
            --) shift && break ;;
            -h | --help) usage && exit 0 ;;
            --fail-open) [ "$fail_open" = always ] || fail_open=outage ;;
            --fail-open-always) fail_open=always ;;
            --*=*) set_option "${1%%=*}" "${1#*=}" ;;
            -?*)
                [ $# -gt 1 ] || fail 64 "Cannot use $1: its value is missing" 'See sh client.sh --help'
                set_option "$1" "$2"
                shift
                ;;
            *)
                [ "$verb" != run ] || break
                [ -z "$lease_given" ] || fail 64 "Cannot use $(json "$1"): one lease is enough" 'See --help'
                lease_given=$1
                ;;
        esac
        shift
    done
    check_server
    command -v curl >/dev/null 2>&1 || fail 69 'Cannot reach the server: curl is not installed' 'Install curl'
    placement=''
    [ -z "$amounts" ] || placement="$placement,\"amount\":{${amounts#,}}"
    [ -z "$selectors" ] || placement="$placement,\"selector\":{${selectors#,}}"
    [ -z "$resource_wanted" ] || placement="$placement,\"resource\":$resource_wanted"
    [ -z "$parameters" ] || placement="$placement,\"parameters\":{${parameters#,}}"
    fractions=''
    ! sleep 0.001 2>/dev/null || fractions=yes
    # The command reads what the script was given to read.
    # (`2>/dev/null` would become the standard input if there is none.)
    if (exec 3<&0) 2>&-; then exec 3<&0; else exec </dev/null 3</dev/null; fi
    dir=$(umask 077 && mktemp -d "${TMPDIR:-/tmp}/berth-XXXXXXXX") ||
        fail 1 'Cannot make a private folder' 'Set TMPDIR to a folder that this user can write'
    reply=$dir/reply
    own_pid
    main_pid=$pid
    trap on_exit EXIT
    case $verb in
        run) run "$@" ;;
        acquire) acquire ;;
        heartbeat) if [ -n "$request_id" ]; then keep_request; else send_heartbeats "$lease_given"; fi ;;
        release) if [ -n "$request_id" ]; then release_request; else release_lease "$lease_given"; fi ;;
        status) status ;;
        ask) ask ;;
        wait) wait_for_lease ;;
        access) access ;;
        logs) logs ;;
    esac
}

# Leaves the number of this process in `pid`; `$$` is that of the script also in its background processes.
own_pid() {
    if [ -r /proc/self/stat ]; then
        read -r pid _ </proc/self/stat
    else
        # shellcheck disable=SC2016 # It is for the other shell.
        pid=$(exec sh -c 'echo "$PPID"')
    fi
}

# A lease that is still here has not been given to anybody. A process that was just forked and is killed before it has
# become curl may come here too, in bash: it must touch nothing.
on_exit() {
    on_exit_code=$?
    own_pid
    [ "$pid" = "$main_pid" ] || exit "$on_exit_code"
    trap - EXIT
    case $verb:$lease_id in
        run:?* | acquire:?*)
            caught=''
            release "$leave_ms" "/v1/leases/$lease_id"
            ;;
        logs:*) on_exit_code=0 ;;
    esac
    [ -z "$guard" ] || kill "$guard" 2>/dev/null
    rm -rf "$dir"
    exit "$on_exit_code"
}

# One line, read whole: a script that was cut short does nothing, and the command cannot read the rest of it.
main "$@"; exit
