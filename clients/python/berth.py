"""Berth lends scarce test infrastructure to programs: cloud accounts, quota, clusters.

A client of a Berth server in one file. It needs Python 3.9 or newer and nothing else, so it can be copied next to
a job. ``lease`` is what most programs need:

    import berth

    client = berth.Client.from_environment()  # BERTH_URL, BERTH_TOKEN or BERTH_TOKEN_FILE, BERTH_CA_FILE
    with client.lease("aws-account", holder="e2e/1234") as lease:
        run_tests(lease.resources("aws-account")[0], stop=lease.lost)

Heartbeats are sent by a thread while the block runs. If the lease is lost, the event ``lease.lost`` is set; the block
must then stop, and ``Lost`` is raised at its end. All calls are retried where that is safe: a request carries an id,
so a repeated one gets the same lease.

Errors are ``Problem`` (the server refused; its ``code`` is stable), ``Unreachable``, ``NotGranted`` and ``Lost``. Each
has the ``exit_code`` that the command berth has for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import logging
import os
import random
import re
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Callable, Optional, TypeVar, Union

__all__ = [
    "Access",
    "BerthError",
    "Claim",
    "Client",
    "Item",
    "Lease",
    "Lost",
    "NotGranted",
    "Notice",
    "Problem",
    "Unreachable",
    "Waiting",
    "parse_duration",
]

# The limits are those of the other clients of Berth, in seconds.
_ANSWER = 15.0
_POLL = 30.0
_OUTAGE = 300.0
_RELEASE = 30.0
_LEAVE = 5.0
_PAUSE_MIN = 0.2
_PAUSE_MAX = 5.0
_MARGIN_MAX = 30.0
_RENEW_MIN = 2.0
# Access that ends lasts for ten minutes at least. So it is read in time also if the clock of this machine is hours behind.
_RENEW_MAX = 180.0
_ASKS_MAX = 20

_log = logging.getLogger("berth")
_T = TypeVar("_T")

#: A text, or a function that is called before each call that needs the token, so that a token that is replaced while
#: the program runs is used at once.
TokenSource = Union[str, Callable[[], Optional[str]]]
#: A number of seconds, a ``timedelta``, or a text such as ``90s``, ``1h30m`` or ``2d``.
DurationLike = Union[float, int, timedelta, str]


class BerthError(Exception):
    """Any error of this module."""

    #: The exit code that the command berth has for this error.
    exit_code = 1


class Problem(BerthError):
    """The server refused, with a problem document (RFC 9457)."""

    def __init__(self, code: str, status: int, detail: str, hint: str, facts: Mapping[str, Any]) -> None:
        super().__init__(f"{detail}. {hint}")
        #: Stable, such as ``pool_not_found``.
        self.code = code
        self.status = status
        self.detail = detail
        #: What to do now.
        self.hint = hint
        #: What else the server says, for programs.
        self.facts = facts
        self._retry_after = 0.0

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        if self.code == "lease_ended":
            return 76
        if self.code == "unexpected_reply" or self.status >= 500 or self.status == 429:
            return 69
        if self.status in (404, 410):
            return 66
        return 64 if self.status == 400 else 77


class Unreachable(BerthError):
    """The server did not answer: no connection, a connection that was cut, no answer in time."""

    exit_code = 69

    def __init__(self, url: str, state: str, *, sent: bool) -> None:
        super().__init__(f"Cannot reach the server at {url}: {state}")
        self._sent = sent


class NotGranted(BerthError):
    """The request was not granted before the timeout. It has left the queue."""

    exit_code = 75

    def __init__(self, last: Waiting, timeout: float) -> None:
        state = f"not granted within {timeout:g}s (position {last.position})"
        super().__init__(f"Cannot get the lease: {state}. {last.reason}")
        #: The last known state of the request.
        self.last = last


class Lost(BerthError):
    """The holder must stop using its resources now: another holder may get them soon."""

    exit_code = 76

    def __init__(self, lease_id: str, why: str, state: str) -> None:
        super().__init__(f"Cannot keep lease {lease_id}: {state}")
        self.lease_id = lease_id
        #: ``ended``: the server has ended the lease. ``no-contact``: no heartbeat succeeded for nearly a ttl.
        #: ``lifetime``: the lease reaches its maximum lifetime.
        self.why = why


@dataclasses.dataclass(frozen=True)
class Item:
    """A part of a request: of one pool, or of the first of several that can serve."""

    pool: Optional[str] = None
    any_of: Sequence[str] = ()
    count: int = 1
    #: What it needs of a shared resource, such as ``{"vcpus": 24}``.
    amount: Mapping[str, int] = dataclasses.field(default_factory=dict)
    #: Selects resources by their labels.
    selector: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: Selects one resource by its name.
    resource: Optional[str] = None
    #: Of a cluster, if the pool makes clusters.
    parameters: Mapping[str, Union[str, int, float, bool]] = dataclasses.field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> Item:
        """``aws-account``, ``vm:2``, or ``east,west`` for any of these, as ``berth run --pool`` has it."""
        names, _, count = text.partition(":")
        pools = names.split(",")
        many = int(count) if count else 1
        return Item(pool=names, count=many) if len(pools) == 1 else Item(any_of=pools, count=many)

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"count": self.count}
        if self.pool is not None:
            body["pool"] = self.pool
        if self.any_of:
            body["anyOf"] = list(self.any_of)
        for name in ("amount", "selector", "parameters"):
            if getattr(self, name):
                body[name] = dict(getattr(self, name))
        if self.resource is not None:
            body["resource"] = self.resource
        return body


@dataclasses.dataclass(frozen=True)
class Claim:
    """One resource inside a lease."""

    id: str
    pool: str
    resource: str
    #: Larger than that of every earlier grant: a resource that checks it refuses late holders.
    fence: int
    labels: Mapping[str, str]
    user_data: Mapping[str, str]
    #: Whether it is a cluster; see ``Lease.access``.
    cluster: bool


@dataclasses.dataclass(frozen=True)
class Waiting:
    """The state of a request in the queue."""

    id: str
    position: int
    waited_seconds: float
    #: When it will probably be granted; None while too little is known.
    eta_seconds: Optional[float]
    reason: str


@dataclasses.dataclass(frozen=True)
class Notice:
    """The pool takes the lease back for another request: release it by then."""

    ends_by: datetime
    reason: str


@dataclasses.dataclass(frozen=True)
class Access:
    """What the holder of a cluster needs to use it."""

    kubeconfig: str
    username: Optional[str]
    password: Optional[str]
    api_url: Optional[str]
    #: When it must be read again; None: it works until the release.
    expires_at: Optional[datetime]


def parse_duration(value: DurationLike) -> float:
    """Seconds of a duration such as ``90s``, ``1h30m``, ``1.5h`` or ``2d``."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (int, float)):
        return float(value)
    if value == "0":
        return 0.0
    if not re.fullmatch(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", value):
        raise ValueError(f"Cannot use {value!r} as a duration: write it like 90s, 20m, 1h30m or 2d")
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(ms|[smhd])", value))


class Client:
    """Calls one server. It may be used by several threads."""

    def __init__(
        self,
        url: str,
        *,
        token: Optional[TokenSource] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
        connect_timeout: DurationLike = 30.0,
    ) -> None:
        """``connect_timeout`` is how long to retry while the server has not answered once."""
        parsed = urllib.parse.urlsplit(url)
        if parsed.scheme not in ("http", "https") or not parsed.hostname:
            raise ValueError(f"Cannot use {url!r} as the server's address: it is not an http(s) URL")
        if parsed.username is not None or parsed.password is not None:
            raise ValueError("Cannot use the server's address: it contains a user name or password")
        self._parsed = parsed
        self._base = parsed.path.rstrip("/")
        self.url = f"{parsed.scheme}://{parsed.netloc}{self._base}"
        self._token = token
        self._ssl = ssl_context
        self._connect_timeout = parse_duration(connect_timeout)

    @classmethod
    def from_environment(cls, *, connect_timeout: DurationLike = 30.0) -> Client:
        """With the settings of the command berth: ``BERTH_URL``, ``BERTH_TOKEN``, ``BERTH_TOKEN_FILE`` (read again
        each time), ``BERTH_ID_TOKEN``, ``BERTH_CA_FILE``."""
        url = os.environ.get("BERTH_URL")
        if not url:
            raise ValueError("Cannot find the server: BERTH_URL is not set")
        authority = os.environ.get("BERTH_CA_FILE")
        context = ssl.create_default_context(cafile=authority) if authority else None
        return cls(url, token=_environment_token(), ssl_context=context, connect_timeout=connect_timeout)

    @contextlib.contextmanager
    def lease(
        self,
        *items: Union[str, Item],
        holder: str,
        timeout: Optional[DurationLike] = None,
        margin: DurationLike = 0.0,
        ttl: Optional[DurationLike] = None,
        lifetime: Optional[DurationLike] = None,
        priority: int = 0,
        labels: Optional[Mapping[str, str]] = None,
        request_id: Optional[str] = None,
        on_waiting: Optional[Callable[[Waiting], None]] = None,
        on_notice: Optional[Callable[[Notice], None]] = None,
    ) -> Iterator[Lease]:
        """Holds a lease while the block runs, and releases it in any case. See ``acquire`` for the arguments.

        Raises ``Lost`` at the end of the block if the lease was lost while it ran: do not trust its result then. If the
        block raises an error itself, that one is raised.
        """
        held = self.acquire(
            *items,
            holder=holder,
            timeout=timeout,
            margin=margin,
            ttl=ttl,
            lifetime=lifetime,
            priority=priority,
            labels=labels,
            request_id=request_id,
            on_waiting=on_waiting,
            on_notice=on_notice,
        )
        try:
            yield held
        except BaseException:
            with contextlib.suppress(BerthError):
                held.release()
            raise
        held.raise_if_lost()
        try:
            held.release()
        except Lost:
            raise
        except BerthError as error:
            # The lease expires after its ttl. The result of the block matters more.
            _log.warning("Cannot release lease %s: %s", held.id, error)

    def acquire(
        self,
        *items: Union[str, Item],
        holder: str,
        timeout: Optional[DurationLike] = None,
        margin: DurationLike = 0.0,
        ttl: Optional[DurationLike] = None,
        lifetime: Optional[DurationLike] = None,
        priority: int = 0,
        labels: Optional[Mapping[str, str]] = None,
        request_id: Optional[str] = None,
        on_waiting: Optional[Callable[[Waiting], None]] = None,
        on_notice: Optional[Callable[[Notice], None]] = None,
    ) -> Lease:
        """Waits until all items are granted, and starts heartbeats. The caller must call ``release``.

        Survives restarts of the server and lost replies. ``holder`` is for people to read: a job, a build, a person.
        ``timeout``: ``NotGranted`` after this time; 0 does not wait; None waits for as long as it takes. ``margin`` is
        the time that the work needs to stop: the lease counts as lost this long before it can expire. ``request_id``: one
        id never gets two leases. ``on_waiting`` gets the state after each poll, ``on_notice`` is called once if the pool
        takes the lease back.
        """
        body: dict[str, Any] = {
            "items": [(Item.parse(item) if isinstance(item, str) else item)._body() for item in items],
            "holder": holder,
        }
        if ttl is not None:
            body["ttl"] = _format(parse_duration(ttl))
        if lifetime is not None:
            body["lifetime"] = _format(parse_duration(lifetime))
        if priority:
            body["priority"] = priority
        if labels:
            body["labels"] = dict(labels)
        limit = None if timeout is None else parse_duration(timeout)
        for asks in range(1, _ASKS_MAX + 1):
            named = {**body, "requestId": request_id or str(uuid.uuid4())}
            queued = _Queued(self, named, limit, on_waiting)
            try:
                return Lease(self, queued.until_granted(), parse_duration(margin), on_notice)
            except Problem as error:
                # The server ended the request while there was no contact. It can be sent again with a new id.
                forgotten = error.code == "request_ended" and error.facts.get("how") in (
                    "abandoned",
                    "disconnected",
                    "expired",
                )
                if request_id is not None or not forgotten or asks == _ASKS_MAX:
                    raise
        raise AssertionError("unreachable")

    # ---- calls ----

    def _send(
        self,
        method: str,
        *path: str,
        token: Optional[str] = None,
        body: Optional[Mapping[str, Any]] = None,
        wait: float = 0.0,
        answer: Optional[float] = None,
        stop: Optional[_Stop] = None,
    ) -> tuple[int, dict[str, Any]]:
        """Makes one call. Returns status and reply, or raises ``Problem`` or ``Unreachable``."""
        target = self._base + "".join("/" + urllib.parse.quote(part, safe="") for part in path)
        if wait > 0:
            target += f"?wait={_format(wait)}"
        headers = {"Accept": "application/json, application/problem+json", "User-Agent": "berth-python"}
        bearer = token if token is not None else self._own_token()
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        content: Optional[bytes] = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        limit = answer if answer is not None else _ANSWER + wait
        connection = self._connection(limit)
        if stop is not None:
            stop.watch(connection)
        sent = False
        try:
            connection.connect()
            if stop is not None and stop.is_set():  # It came before there was a socket to shut down.
                raise Unreachable(self.url, "the call was stopped", sent=False)
            sent = True
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            text = response.read()  # With a limit it would not notice a reply that was cut.
            status, retry_after = response.status, response.headers.get("Retry-After", "")
        except (OSError, http.client.HTTPException) as error:
            state = f"no answer within {limit:g}s" if isinstance(error, socket.timeout) else _text_of(error)
            raise Unreachable(self.url, state, sent=sent) from error
        finally:
            connection.close()
        found = _parse(text)
        if 200 <= status < 300 and (status == 204 or found is not None):
            return status, found or {}
        problem = _problem_from(status, found)
        if retry_after.isdigit():
            problem._retry_after = float(retry_after)
        raise problem

    def _connection(self, limit: float) -> http.client.HTTPConnection:
        host, port = self._parsed.hostname or "", self._parsed.port
        if self._parsed.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=limit)
        context = self._ssl or ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=limit, context=context)

    def _own_token(self) -> Optional[str]:
        return self._token() if callable(self._token) else self._token

    def _release(self, lease_id: str, token: str, limit: float) -> None:
        _retry(limit, lambda: self._send("DELETE", "v1", "leases", lease_id, token=token))


class Lease:
    """A granted request. A thread sends its heartbeats until ``release``."""

    def __init__(
        self,
        client: Client,
        granted: Mapping[str, Any],
        margin: float,
        on_notice: Optional[Callable[[Notice], None]],
    ) -> None:
        self.id = str(granted["id"])
        self.holder = str(granted.get("holder", ""))
        #: Proves that its owner holds the lease. It is a secret.
        self.token = str(granted["token"])
        self.claims = tuple(_claim(claim) for claim in granted["claims"])
        self.ttl = parse_duration(granted["ttl"])
        #: Set when the lease is lost. Then ``error`` says why, and the holder must stop.
        self.lost = threading.Event()
        self.error: Optional[Lost] = None
        self._client = client
        self._on_notice = on_notice
        self._noticed = False
        self._lock = threading.Lock()
        self._stop = _Stop()
        self._confirmed = threading.Event()
        self._released = False
        # When the last heartbeat that was answered was sent. The server counts the ttl from its arrival, so our
        # deadline is never after the server's.
        self._alive = time.monotonic()
        self._ends: Optional[float] = None
        longest = self.ttl
        if granted.get("endsAt"):
            lifetime = (_instant(granted["endsAt"]) - _instant(granted["grantedAt"])).total_seconds()
            self._ends = self._alive + lifetime
            longest = min(longest, lifetime)
        # At most a third, so that there is time to retry a failed heartbeat.
        self._margin = min(max(min(self.ttl / 10, _MARGIN_MAX), margin), longest / 3)
        self._threads = [
            threading.Thread(target=work, name=f"berth {self.id}", daemon=True)
            for work in (self._beat, self._watch_deadline)
        ]
        for thread in self._threads:
            thread.start()
        self._confirm()

    def resources(self, pool: str) -> list[str]:
        """The names of the resources of one pool."""
        return [claim.resource for claim in self.claims if claim.pool == pool]

    def raise_if_lost(self) -> None:
        """Raises ``Lost`` if the lease is lost. Releases what is left of it."""
        if self.error is not None:
            with contextlib.suppress(BerthError):
                self.release()
            raise self.error

    def access(self, claim: Claim) -> Access:
        """Reads what is needed to use a cluster. Waits while it is being made."""
        _, found = _retry(60.0, lambda: self._read_access(claim))
        expires = found.get("expiresAt")
        return Access(
            kubeconfig=found["kubeconfig"],
            username=found.get("username"),
            password=found.get("password"),
            api_url=found.get("apiUrl"),
            expires_at=_instant(expires) if expires else None,
        )

    def write_kubeconfig(self, claim: Claim, path: str) -> None:
        """Writes the kubeconfig of a cluster to a file that only this user can read. If the access expires, the file is
        replaced in time, until the lease is released or lost. The caller removes the file."""
        access = self.access(claim)
        _replace_file(path, access.kubeconfig)
        if access.expires_at is not None:
            args = (claim, path, access.expires_at)
            threading.Thread(target=self._renew, args=args, name=f"berth access {self.id}", daemon=True).start()

    def _renew(self, claim: Claim, path: str, expires: Optional[datetime]) -> None:
        """Replaces the file when two thirds of the time are over."""
        while expires is not None:
            left = (expires - datetime.now(expires.tzinfo)).total_seconds()
            if self._stop.wait(_renew_in(left)) or self.lost.is_set():
                return
            try:
                _, found = self._read_access(claim)
                if self._stop.is_set():
                    return
                _replace_file(path, found["kubeconfig"])
                expires = _instant(found["expiresAt"]) if found.get("expiresAt") else None
            except (BerthError, OSError) as error:  # While the access works, there is time to try again.
                _log.warning("The access to %s could not be renewed: %s; retrying", claim.resource, error)

    def _read_access(self, claim: Claim) -> tuple[int, dict[str, Any]]:
        path = ("v1", "leases", self.id, "claims", claim.id, "access")
        return self._client._send("GET", *path, token=self.token)

    def release(self) -> None:
        """Stops the heartbeats and gives the lease back. Retries for half a minute; if it fails, the lease expires after
        its ttl. Raises ``Lost`` if the lease had ended before. Calling it again does nothing."""
        with self._lock:
            if self._released:
                return
            self._released = True
        self._stop.set()
        for thread in self._threads:
            thread.join()
        # A revoked lease keeps its resources until its holder has stopped: one call says so.
        ended = self.error is not None and self.error.why == "ended"
        try:
            self._client._release(self.id, self.token, 0.0 if ended else _RELEASE)
        except Problem as error:
            if not _has_ended(error):
                raise
            if self.error is None:
                self.error = Lost(self.id, "ended", error.detail)
                self.lost.set()
        if self.error is not None:
            raise self.error

    # ---- heartbeats ----

    def _confirm(self) -> None:
        """Waits for the first heartbeat: the reply with the grant may have taken longer than the ttl."""
        try:
            while not self._confirmed.wait(0.05):
                self.raise_if_lost()
            self.raise_if_lost()
        except BaseException:
            with contextlib.suppress(BerthError):
                self.release()
            raise

    def _beat(self) -> None:
        """Goes on after lost contact: a late heartbeat still protects the holder's cleanup."""
        every = self.ttl / 3
        failures = 0
        while not self._stop.is_set():
            sent = time.monotonic()
            try:
                self._beat_once(sent, min(max(every, 1.0), _ANSWER))
            except BerthError as error:
                if self._stop.is_set():
                    return
                # A wrong token: another client has this id now, or the server has a new secret.
                if _has_ended(error) or _has_code(error, "token_wrong", "token_missing"):
                    self._lose("ended", error.detail if isinstance(error, Problem) else str(error))
                    return
                if failures == 0:
                    _log.warning("A heartbeat of lease %s failed; retrying: %s", self.id, error)
                failures += 1
                self._stop.wait(min(_backoff(failures), self.ttl / 12))
            else:
                failures = 0
                self._pause_until_lost(every)

    def _beat_once(self, sent: float, answer: float) -> None:
        path = ("v1", "leases", self.id, "heartbeat")
        reply: dict[str, Any] = {}
        try:
            _, reply = self._client._send("POST", *path, token=self.token, answer=answer, stop=self._stop)
        except Problem as error:
            if error.code != "journal_unavailable":  # Such a server cannot expire leases either.
                raise
        with self._lock:
            self._alive = sent
            if reply.get("endsAt"):
                # The server's clock at that moment was `expiresAt` minus the ttl.
                left = (_instant(reply["endsAt"]) - _instant(reply["expiresAt"])).total_seconds() + self.ttl
                self._ends = sent + left if self._ends is None else min(self._ends, sent + left)
        self._confirmed.set()
        notice = reply.get("notice")
        if notice and not self._noticed:
            self._noticed = True
            if self._on_notice is not None:
                self._on_notice(Notice(_instant(notice["endsBy"]), notice["reason"]))

    def _pause_until_lost(self, seconds: float) -> None:
        """Ends early when the server reports that the lease is lost. The next heartbeat finds out why."""
        until = time.monotonic() + seconds
        try:
            _, found = self._client._send("GET", "v1", "leases", self.id, token=self.token, wait=seconds, stop=self._stop)
            if found.get("revokedAt") or (found.get("notice") and not self._noticed):
                return
        except BerthError as error:
            if _has_ended(error):
                return
        self._stop.wait(until - time.monotonic())

    def _watch_deadline(self) -> None:
        while not self._stop.is_set() and not self.lost.is_set():
            with self._lock:
                contact = self._alive + self.ttl
                ends = self._ends
            due = (contact if ends is None else min(contact, ends)) - self._margin
            left = due - time.monotonic()
            if left > 0:
                self._stop.wait(min(left, 60.0))
            elif ends is not None and ends <= contact:
                self._lose("lifetime", "it reaches its lifetime")
            else:
                self._lose("no-contact", "no heartbeat succeeded for nearly its ttl")

    def _lose(self, why: str, state: str) -> None:
        with self._lock:
            if self.error is None:
                self.error = Lost(self.id, why, state)
        self.lost.set()
        self._confirmed.set()


def _renew_in(left: float) -> float:
    """After how many seconds access is read again that ends after this time, by the clock of this machine."""
    return min(max(_RENEW_MIN, left * 2 / 3), _RENEW_MAX)


def _replace_file(path: str, text: str) -> None:
    """Never leaves half of a file to those who read it."""
    folder, name = os.path.split(os.path.abspath(path))
    draft = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(draft)
        raise


class _Stop(threading.Event):
    """An event that also ends the call that is under way."""

    def __init__(self) -> None:
        super().__init__()
        self._connection: Optional[http.client.HTTPConnection] = None

    def watch(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def set(self) -> None:
        super().set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)


class _Queued:
    """A request from its first call until it is granted or has left the queue."""

    def __init__(
        self,
        client: Client,
        body: Mapping[str, Any],
        timeout: Optional[float],
        on_waiting: Optional[Callable[[Waiting], None]],
    ) -> None:
        self._client = client
        self._body = body
        self._timeout = timeout
        self._on_waiting = on_waiting
        self._started = time.monotonic()
        self._id: Optional[str] = None
        self._token = ""
        self._last: Optional[Waiting] = None
        self._may_be_known = False

    def until_granted(self) -> dict[str, Any]:
        try:
            for asks in range(1, _ASKS_MAX + 1):
                try:
                    return self._ask()
                except Problem as error:
                    # A server without a journal loses the request in a restart. Sending the same id is safe.
                    if error.code != "request_not_found" or asks == _ASKS_MAX:
                        raise
            raise AssertionError("unreachable")
        except BerthError:
            self._leave(max(_LEAVE, min(_RELEASE, self._client._connect_timeout)), by_user=False)
            raise
        except BaseException:  # Ctrl-C: its sender does not wait for long.
            self._leave(_LEAVE, by_user=True)
            raise

    def _ask(self) -> dict[str, Any]:
        status, found = self._retry(self._client._connect_timeout, self._post)
        self._known(status, found)
        while status == 202:
            self._last = _waiting(found)
            if self._on_waiting is not None:
                self._on_waiting(self._last)
            left = self._left()
            if left <= 0:
                raise NotGranted(self._last, self._timeout or 0.0)
            status, found = self._poll(min(_POLL, left))
        return {**found, "token": self._token}

    def _known(self, status: int, found: Mapping[str, Any]) -> None:
        if not isinstance(found.get("id"), str) or not isinstance(found.get("token"), str):
            raise _problem_from(status, None)
        self._id, self._token, self._may_be_known = found["id"], found["token"], False

    def _post(self, answer: Optional[float] = None) -> tuple[int, dict[str, Any]]:
        return self._client._send("POST", "v1", "leases", body=self._body, answer=answer)

    def _poll(self, wait: float) -> tuple[int, dict[str, Any]]:
        waits = iter([wait])
        path = ("v1", "requests", self._id or "")
        # After a failure it polls without a wait, to report the recovery at once.
        return self._retry(
            max(_OUTAGE, self._client._connect_timeout),
            lambda: self._client._send("GET", *path, token=self._token, wait=next(waits, 0.0)),
        )

    def _retry(self, limit: float, attempt: Callable[[], _T]) -> _T:
        def noted() -> _T:
            try:
                return attempt()
            except BerthError as error:
                if _is_temporary(error) and (not isinstance(error, Unreachable) or error._sent):
                    self._may_be_known = True
                raise

        try:
            return _retry(min(limit, max(0.0, self._left())), noted)
        except BerthError as error:
            if self._last is None or self._left() > 0 or not _is_temporary(error):
                raise
            raise NotGranted(self._last, self._timeout or 0.0) from error

    def _left(self) -> float:
        if self._timeout is None:
            return float("inf")
        return self._started + self._timeout - time.monotonic()

    def _leave(self, limit: float, *, by_user: bool) -> None:
        """Leaves the queue, or releases what was granted meanwhile. If it fails, the server drops the request or the
        lease after its ttl."""
        if self._id is None and not self._may_be_known and not by_user:
            return
        with contextlib.suppress(BerthError):
            try:
                _retry(limit, self._leave_once)
            except Problem as error:
                if error.code == "request_granted" and self._id is not None:
                    self._client._release(self._id, self._token, limit)

    def _leave_once(self) -> None:
        if self._id is None:
            # The response to the request is missing, so it may be queued. Send it again to learn its id.
            self._known(*self._post(_LEAVE))
        self._client._send("DELETE", "v1", "requests", self._id or "", token=self._token, answer=_LEAVE)


def _retry(limit: float, attempt: Callable[[], _T]) -> _T:
    """Repeats until success, a permanent error, or the time limit."""
    started = time.monotonic()
    failures = 0
    while True:
        try:
            return attempt()
        except BerthError as error:
            spent = time.monotonic() - started
            if not _is_temporary(error) or spent >= limit:
                raise
            if failures == 0:
                _log.info("%s; retrying", error)
            after = min(error._retry_after, _PAUSE_MAX) if isinstance(error, Problem) else 0.0
            pause = max(_backoff(failures), after)
        time.sleep(min(pause, limit - spent))
        failures += 1


def _backoff(failures: int) -> float:
    """Half of it is chance, so that the clients do not all reconnect at the same time after a restart."""
    full = min(_PAUSE_MAX, _PAUSE_MIN * 2.0 ** min(failures, 16))
    return full * (0.5 + random.random() / 2)


def _is_temporary(error: BerthError) -> bool:
    return isinstance(error, Unreachable) or (isinstance(error, Problem) and error.status in (429, 502, 503, 504))


def _has_code(error: BerthError, *codes: str) -> bool:
    return isinstance(error, Problem) and error.code in codes


def _has_ended(error: BerthError) -> bool:
    """By the code, not the status: a plain 404 may come from a proxy while the server restarts."""
    return _has_code(error, "lease_ended", "lease_not_found", "request_ended")


def _problem_from(status: int, body: Optional[Mapping[str, Any]]) -> Problem:
    if body is not None and all(isinstance(body.get(name), str) for name in ("code", "detail", "hint")):
        said = body.get("status")
        return Problem(body["code"], said if isinstance(said, int) else status, body["detail"], body["hint"], body)
    return Problem(
        "unexpected_reply",
        status,
        f"Cannot use the server's reply: status {status} without a problem document",
        "Check that the address is that of a Berth server and that no proxy answers instead",
        {},
    )


def _parse(text: bytes) -> Optional[dict[str, Any]]:
    try:
        found = json.loads(text)
    except ValueError:
        return None  # Usually an HTML page of a proxy.
    return found if isinstance(found, dict) else None


def _claim(found: Mapping[str, Any]) -> Claim:
    return Claim(
        id=found["id"],
        pool=found["pool"],
        resource=found["resource"],
        fence=found["fence"],
        labels=found.get("labels", {}),
        user_data=found.get("userData", {}),
        cluster=bool(found.get("cluster", False)),
    )


def _waiting(found: Mapping[str, Any]) -> Waiting:
    reason = found.get("reason")
    return Waiting(
        id=found["id"],
        position=found["position"],
        waited_seconds=found.get("waitedSeconds", 0.0),
        eta_seconds=found.get("etaSeconds"),
        reason=reason["message"] if isinstance(reason, dict) else "",
    )


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _format(seconds: float) -> str:
    return f"{max(1, round(seconds * 1_000))}ms"


def _text_of(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, (ConnectionError, http.client.HTTPException)):
        return "the connection was cut"
    return str(error) or type(error).__name__


def _environment_token() -> Optional[TokenSource]:
    """As the command berth finds it. Inside of berth run, BERTH_TOKEN may be the token of that lease."""
    own, lease = os.environ.get("BERTH_TOKEN"), os.environ.get("BERTH_LEASE_TOKEN")
    if own and not (os.environ.get("BERTH_LEASE_ID") and lease in (None, "", own)):
        return own
    path = os.environ.get("BERTH_TOKEN_FILE")
    if path:
        return lambda: _read_token(path or "")
    return os.environ.get("BERTH_ID_TOKEN") or None


def _read_token(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        token = file.read().strip()
    if not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", token):
        raise ValueError(f"Cannot use the token in {path}: it is not a token")
    return token
