"""What only Python has. What the clients share is in clients/vectors, against a real server."""

import os
import pathlib
import socket
import sys
import tempfile
import unittest
from datetime import timedelta
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import berth  # noqa: E402


class Durations(unittest.TestCase):
    def test_are_read_in_every_form(self) -> None:
        wanted = {"90s": 90, "1h30m": 5400, "1.5h": 5400, "2d": 172800, "500ms": 0.5, "0": 0, 7: 7}
        for text, seconds in wanted.items():
            self.assertEqual(berth.parse_duration(text), seconds)  # type: ignore[arg-type]
        self.assertEqual(berth.parse_duration(timedelta(minutes=2)), 120)

    def test_without_a_unit_are_refused(self) -> None:
        for text in ("", "90", "s", "1x", "1h 30m"):
            with self.assertRaises(ValueError):
                berth.parse_duration(text)


class Renewals(unittest.TestCase):
    def test_come_in_time_also_if_the_clock_is_wrong(self) -> None:
        for left, wanted in ((60.0, 40.0), (3600.0, 180.0), (-3600.0, 2.0), (86400.0, 180.0)):
            self.assertEqual(berth._renew_in(left), wanted)


class Clients(unittest.TestCase):
    def test_refuse_addresses_that_are_none(self) -> None:
        for url in ("", "localhost:8080", "ftp://x", "http://", "http://me:secret@x"):
            with self.assertRaises(ValueError) as caught:
                berth.Client(url)
            self.assertNotIn("me:secret", str(caught.exception).replace(repr(url), "" if "@" not in url else repr(url)))

    def test_read_a_token_file_each_time(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "token")
            environment = {"BERTH_URL": "http://127.0.0.1:1", "BERTH_TOKEN_FILE": str(path)}
            with mock.patch.dict(os.environ, environment, clear=True):
                client = berth.Client.from_environment()
            for token in ("first", "second"):
                path.write_text(token + "\n")
                self.assertEqual(client._own_token(), token)
            path.write_text("two words")
            with self.assertRaises(ValueError):
                client._own_token()

    def test_do_not_take_the_token_of_an_outer_lease_for_their_own(self) -> None:
        outer = {"BERTH_URL": "http://x", "BERTH_TOKEN": "t", "BERTH_LEASE_TOKEN": "t", "BERTH_LEASE_ID": "1"}
        with mock.patch.dict(os.environ, outer, clear=True):
            self.assertIsNone(berth.Client.from_environment()._own_token())
        with mock.patch.dict(os.environ, {**outer, "BERTH_TOKEN": "own"}, clear=True):
            self.assertEqual(berth.Client.from_environment()._own_token(), "own")

    def test_say_why_a_server_cannot_be_reached(self) -> None:
        client = berth.Client("http://127.0.0.1:1", connect_timeout=0)
        with self.assertRaises(berth.Unreachable) as caught:
            client.acquire("aws", holder="test")
        self.assertIn("connection refused", str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 69)

    def test_stop_a_call_that_is_not_connected_yet(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            client = berth.Client(f"http://127.0.0.1:{silent.getsockname()[1]}")
            stop = berth._Stop()
            stop.set()
            with self.assertRaises(berth.Unreachable) as caught:
                client._send("GET", "v1", "leases", "1", wait=30.0, stop=stop)
        self.assertIn("stopped", str(caught.exception))


class Items(unittest.TestCase):
    def test_are_parsed_as_the_command_does(self) -> None:
        self.assertEqual(berth.Item.parse("vm:2"), berth.Item(pool="vm", count=2))
        self.assertEqual(berth.Item.parse("east,west").any_of, ["east", "west"])


if __name__ == "__main__":
    unittest.main()
