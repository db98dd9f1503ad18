"""Runs one vector of clients/vectors with the Python client.

The only argument is the run as JSON: what to ask for, and what the work does. It prints ``working RESOURCE...`` when
the work starts and ``error CODE`` at its end, and exits as ``berth run`` would.
"""

import json
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import berth  # noqa: E402


class Terminated(BaseException):
    """SIGTERM."""


def terminate(*_: object) -> None:
    raise Terminated


def code_of(error: berth.BerthError) -> str:
    if isinstance(error, berth.Problem):
        return error.code
    names = {berth.Unreachable: "unreachable", berth.NotGranted: "not_granted", berth.Lost: "lease_lost"}
    return names[type(error)]


def main() -> int:
    run = json.loads(sys.argv[1])
    ask, work = run["ask"], run["work"]
    os.environ["BERTH_URL"] = run["url"]
    signal.signal(signal.SIGTERM, terminate)
    client = berth.Client.from_environment(connect_timeout=ask.get("connectTimeout", 30))
    items = [berth.Item.parse(pool) for pool in ask["pools"]]
    if "amounts" in ask or "selector" in ask:
        amount, selector = ask.get("amounts", {}), ask.get("selector", {})
        items = [berth.Item(pool=item.pool, amount=amount, selector=selector) for item in items]
    with client.lease(
        *items,
        holder=ask.get("holder", "vectors"),
        timeout=ask.get("timeout"),
        ttl=ask.get("ttl"),
        lifetime=ask.get("lifetime"),
        priority=ask.get("priority", 0),
        labels=ask.get("labels"),
        request_id=ask.get("requestId"),
    ) as lease:
        print("working", *(claim.resource for claim in lease.claims), flush=True)
        if lease.lost.wait(work["forMs"] / 1000):
            lease.raise_if_lost()
        pathlib.Path(run["doneFile"]).touch()
    return int(work["exit"])


if __name__ == "__main__":
    try:
        code = main()
        print("error none")
    except berth.BerthError as error:
        print(error, file=sys.stderr)
        print("error", code_of(error))
        code = error.exit_code
    except Terminated:
        print("error interrupted")
        code = 143
    sys.exit(code)
