#!/bin/sh
# The driver of the demo's clusters. They are folders below $CLUSTERS that take as long as clusters of a
# fast day: 25 s to create, 8 s to resume. One of seven fails. docs/guides/drivers.md explains the calls.
set -eu
verb=$1
request=$(cat)
field() { printf '%s' "$request" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
name=$(field name)
instance=$(field instance)
here=$CLUSTERS/$name
now=$(date +%s)

mine() { [ -n "$name" ] && [ -f "$here/instance" ] && [ "$(cat "$here/instance")" = "$instance" ]; }
spec() { printf '%s' "$request" | sed -n 's/.*"template":"\([^"]*\)","revision":"\([^"]*\)","parameters":\({[^}]*}\).*/\1 \2 \3/p'; }
# Writes the phase that it is in and since when.
enter() { echo "$1 $now" > "$here/phase.$$" && mv "$here/phase.$$" "$here/phase"; }
make() {
  mkdir "$here.new.$$"
  printf '%s' "$instance" > "$here.new.$$/instance"
  spec > "$here.new.$$/spec"
  date -u +%Y-%m-%dT%H:%M:%SZ > "$here.new.$$/createdAt"
  echo "creating $now" > "$here.new.$$/phase"
  # The first letters of the name follow from a hash: one of seven clusters fails.
  case $name in *[aA4]) echo 10 > "$here.new.$$/fails" ;; esac
  mv -T "$here.new.$$" "$here" 2> /dev/null || rm -r "$here.new.$$"
}
# Prints the phase: `$1` until `$3` seconds have passed, then `$2`, which it then is in.
soon() {
  if [ "$passed" -ge "$3" ]; then
    enter "$2"
    ready "$2"
  else
    echo "{\"phase\":\"$1\",\"progress\":0.$((passed * 9 / $3)),\"message\":\"$4\"}"
  fi
}
ready() { echo "{\"phase\":\"$1\",\"apiUrl\":\"https://api.$name.demo.invalid:6443\",\"version\":\"4.20\"}"; }
observe() {
  read -r phase since < "$here/phase"
  passed=$((now - since))
  case $phase in
    creating)
      if [ -f "$here/fails" ] && [ "$passed" -ge "$(cat "$here/fails")" ]; then
        echo '{"phase":"failed","message":"bootstrap: etcd did not reach quorum (2 of 3 members)"}'
      elif [ "$passed" -lt 10 ]; then soon creating ready 25 "network and machines"
      else soon creating ready 25 "operators are rolling out"; fi ;;
    resuming) soon resuming ready 8 "machines start" ;;
    stopping) soon stopping hibernated 5 "machines stop" ;;
    *) ready "$phase" ;;
  esac
}

mkdir -p "$CLUSTERS"
case $verb in
  create)
    if [ -d "$here" ]; then
      if ! mine || [ "$(cat "$here/spec")" != "$(spec)" ]; then echo "$name is taken" >&2; exit 40; fi
    else
      make
    fi
    echo '{}' ;;
  observe) mine || exit 30; observe ;;
  credentials) mine || exit 30; printf '%s\n' '{"kubeconfig":"apiVersion: v1\nkind: Config\n"}' ;;
  hibernate) mine || exit 30; enter stopping; echo '{}' ;;
  resume) mine || exit 30; enter resuming; echo '{}' ;;
  destroy)
    if mine; then mv "$here" "$here.gone.$$"; rm -r "$here.gone.$$"; fi
    echo '{}' ;;
  list)
    printf '{"instances":['
    comma=
    for each in "$CLUSTERS"/*; do
      case $each in *.new.* | *.gone.*) continue ;; esac
      [ -f "$each/instance" ] || continue
      printf '%s{"name":"%s","instance":"%s","createdAt":"%s"}' "$comma" "${each##*/}" "$(cat "$each/instance")" "$(cat "$each/createdAt")"
      comma=,
    done
    echo ']}' ;;
  logs)
    echo "level=info msg=\"Waiting up to 20m0s for the Kubernetes API\""
    if [ -f "$here/fails" ]; then echo "level=error msg=\"Bootstrap failed to complete: etcd did not reach quorum (2 of 3 members)\""; fi ;;
  *) echo "unknown verb $verb" >&2; exit 64 ;;
esac
