#!/usr/bin/env bash
# An install step as CI systems have them, with an installer that only pretends: a lease before each
# attempt, a release in the background once the heavy phase is over, another lease to destroy what an
# attempt has left, and an exit handler that gives back whatever is still held. A lease that cannot be
# had never fails the installation.
set -euo pipefail
# shellcheck source=/dev/null
source "$LEASE_PROXY_CLIENT_SH"

create_handle=''
destroy_handle=''
slot="${CLUSTER_PROFILE_SET_NAME:-}--${CLUSTER_PROFILE_NAME:-}--install-quota-slice"

at_exit() {
    echo 'Releasing install leases (if any)'
    lease__release --handle="$create_handle" || true
    lease__release --handle="$destroy_handle" || true
    local children
    children=$(jobs -p)
    # shellcheck disable=SC2086 # One word for each.
    [ -z "$children" ] || kill $children 2>/dev/null || true
}
trap at_exit EXIT
trap 'exit 143' TERM

take_create_lease() {
    lease__install_lease_eligible || return 0
    lease__release --handle="$create_handle"
    create_handle=''
    create_handle=$(lease__acquire --type="$slot" --scope=step) || return 1
    echo "Create cluster install lease acquired: $(lease__cat --handle="$create_handle" --format=csv)"
    lease__release --handle="$create_handle" --delay="${RELEASE_LEASE_DELAY:-20m}" &
}

destroy() {
    destroy_handle=''
    destroy_handle=$(lease__acquire --type="$slot" --scope=step) || true
    echo "Destroy cluster install lease acquired: $(lease__cat --handle="$destroy_handle" --format=csv)"
    lease__release --handle="$destroy_handle" || true
}

max=${INSTALL_ATTEMPTS:-5}
for ((attempt = 1; attempt <= max; attempt++)); do
    echo "Install attempt $attempt of $max"
    take_create_lease || true
    code=0
    $INSTALLER "$attempt" || code=$?
    echo "Installer exit with code $code"
    if [ "$code" != 4 ] || [ "$attempt" = "$max" ]; then
        exit "$code"
    fi
    destroy
done
