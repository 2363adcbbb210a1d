"""The receiver of a connected application: verifies, deduplicates and orders what the User Account Service posts, and reports on deletions."""
from __future__ import annotations

import base64
import hmac
import json
import logging
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal, Protocol

__all__ = ["Deletions", "Memory", "Message", "Outcome", "Receiver", "ReportRefused", "Store", "Task"]

#: `done` ends a message; `later` accepts its task, and a report has to end it. A deletion without a task can only be `done`.
Outcome = Literal["done", "later"]
MAX_BODY_BYTES = 64 * 1024
MAX_REMEMBERED = 10_000
LOCKS = 64
#: Newer than every version of an account.
WITHDRAWN = 2**63 - 1
NO_TASK = 'A deletion without a task cannot be done "later": register with --acknowledges later, or delete at once.'
log = logging.getLogger(__name__)


class ReportRefused(Exception):
    """The service refused a report; `code` never changes, such as TASK_002."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code = status, code


@dataclass(frozen=True)
class Task:
    """A deletion task. Keep it until the deletion is done."""

    id: str
    due_by: str
    report_to: str
    report_token: str

    def report(self, status: Literal["processing", "completed", "failed"], **said: Any) -> None:
        """Reports with `progress`, `records`, `retained` or `code`. Raises ReportRefused, or OSError without an answer."""
        headers = {"Authorization": f"Bearer {self.report_token}", "Content-Type": "application/json"}
        body = json.dumps({"status": status, **said}).encode()
        try:
            urllib.request.urlopen(urllib.request.Request(self.report_to, body, headers, method="POST"), timeout=10).close()
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise ReportRefused(refusal.code, _code_in(refusal.read())) from None


@dataclass(frozen=True)
class Message:
    """`subject` is your id of the person. Keep `account`: who comes back after a deletion has another one with the same subject."""

    id: str
    type: str
    subject: str
    account: str
    #: Rises with every change of the account; not every message has it.
    version: int | None
    task: Task | None
    #: Every member, such as `new_email`.
    data: Mapping[str, Any]


class Store(Protocol):
    """What has to outlive the process. Stand it in your database."""

    def is_done(self, message_id: str) -> bool: ...

    def mark_done(self, message_id: str) -> None: ...

    def is_newest(self, account: str, version: int) -> bool:
        """Keeps the version unless a newer one is known, and returns whether it did."""
        ...


class Memory:
    """The last 10,000 messages and accounts, as long as the process lives."""

    def __init__(self) -> None:
        self._done: dict[str, None] = {}
        self._versions: dict[str, int] = {}
        self._lock = threading.Lock()

    def is_done(self, message_id: str) -> bool:
        return message_id in self._done

    def mark_done(self, message_id: str) -> None:
        with self._lock:
            self._done[message_id] = None
            _forget_oldest(self._done)

    def is_newest(self, account: str, version: int) -> bool:
        with self._lock:
            newest = max(version, self._versions.pop(account, version))
            self._versions[account] = newest
            _forget_oldest(self._versions)
        return newest == version


class Receiver:
    """A WSGI application; `answer` is the same for other frameworks."""

    def __init__(
        self,
        secrets: Iterable[str],
        handle: Callable[[Message], Outcome],
        check: Callable[[str, str], list[dict[str, Any]]] | None = None,
        store: Store | None = None,
        tolerance_seconds: int = 300,
        now: Callable[[], float] = time.time,
        is_present: Callable[[str], bool] | None = None,
    ) -> None:
        """
        `secrets`: after a rotation the old and the new one. `check` lists what holds a withdrawal of (subject, account) back. `is_present`
        says whether anything of this account is left: by the account alone, because who came back has the same subject.
        """
        self._keys = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in secrets]
        if not all(self._keys) or not self._keys:
            raise ValueError("A signing secret is empty. Take the one that `app register` printed.")
        self._handle, self._check, self._store = handle, check, store or Memory()
        self._is_present = is_present
        self._tolerance, self._now = tolerance_seconds, now
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        status, body = self._answer_wsgi(environ)
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]

    def _answer_wsgi(self, environ: dict[str, Any]) -> tuple[int, bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        if environ["REQUEST_METHOD"] != "POST":
            return 405, b""
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return 413, b""
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        headers = {name: environ.get(f"HTTP_{name.upper().replace('-', '_')}", "") for name in names}
        return self.answer(headers, environ["wsgi.input"].read(int(length)))

    def answer(self, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer. The names of the headers are in lower case."""
        if not self.is_signed(headers, body):
            return 401, b""
        try:
            message = _message_in(headers["webhook-id"], body)
        except (ValueError, TypeError, KeyError, AttributeError):
            return 400, b""
        try:
            if message.type == "account.withdrawal_check":
                # Without an answer nobody can be withdrawn, but an empty list would say that nothing holds the withdrawal back.
                if self._check is None:
                    return 501, b""
                return 200, json.dumps({"blockers": self._check(message.subject, message.account)}).encode()
            if message.type == "account.absence_check":
                # Nobody may say for the application that it has nothing.
                if self._is_present is None:
                    return 501, b""
                answer = {"present": self._is_present(message.account), "account": message.account}
                return 200, json.dumps(answer).encode()
            # One after the other, so that an older message cannot end after a newer one.
            with self._locks[hash(message.account) % LOCKS]:
                return (200 if self._handle_once(message) == "done" else 202), b""
        except Exception:
            log.exception("The message %s was not handled, and comes again", message.id)
            return 500, b""

    def is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        if not message_id or not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) <= 12):
            return False
        if abs(self._now() - int(sent_at)) > self._tolerance:
            return False
        signed = f"{message_id}.{sent_at}.".encode() + body
        expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256")) for key in self._keys]
        given = headers.get("webhook-signature", "").encode().split()
        return any(hmac.compare_digest(one, other) for one in given for other in expected)

    def _handle_once(self, message: Message) -> Outcome:
        # A deletion comes again where its answer was lost, or something of the account was still there.
        if message.type != "account.withdrawn" and self._store.is_done(message.id):
            return "done"
        outcome = "done" if self._is_stale(message) else self._handle(message)
        # The service would take 202 for the end of it.
        if outcome == "later" and message.type == "account.withdrawn" and message.task is None:
            raise ValueError(NO_TASK)
        if outcome == "done":
            self._store.mark_done(message.id)
        return outcome

    def _is_stale(self, message: Message) -> bool:
        """Of an address that is older than the known one, or of a withdrawn account. All other messages may come in any order."""
        if message.type in ("account.withdrawal_started", "account.withdrawn"):
            self._store.is_newest(message.account, WITHDRAWN)
        if message.type not in ("account.email_changed", "account.email_reverted") or message.version is None:
            return False
        return not self._store.is_newest(message.account, message.version)


class Deletions:
    """
    Runs each deletion in a thread of its own, once at a time, and reports on it. A process that ends forgets it, and the message comes again.
    One that comes after the end begins anew: something of the account was still there.
    """

    def __init__(self, delete: Callable[[str, Callable[[int, int], None]], Mapping[str, Any]]) -> None:
        """`delete(account, progress)` calls `progress(done, total)` and returns `records`, `retained` or nothing of the last report."""
        self._delete = delete
        self._running: set[str] = set()
        self._lock = threading.Lock()

    def accept(self, message: Message) -> Outcome:
        """For the handler, on account.withdrawn."""
        if message.task is None:
            self._delete(message.account, lambda done, total: None)
            return "done"
        with self._lock:
            if message.id not in self._running:
                self._running.add(message.id)
                threading.Thread(target=self._run, args=(message, message.task), daemon=True).start()
        return "later"

    def _run(self, message: Message, task: Task) -> None:
        try:
            result = self._delete(
                message.account,
                lambda done, total: _report(task, "processing", progress={"done": done, "total": total}),
            )
            _report(task, "completed", **result)
        except Exception:
            log.exception("The deletion %s begins anew when its message comes again", message.id)
        finally:
            self._running.discard(message.id)


def _report(task: Task, status: Literal["processing", "completed"], **said: Any) -> None:
    """A task that is over elsewhere, because somebody waived it, is deleted here all the same."""
    try:
        task.report(status, **said)
    except ReportRefused as refusal:
        if not refusal.code.startswith("TASK_"):
            raise


def _message_in(message_id: str, body: bytes) -> Message:
    sent = json.loads(body)
    data = sent["data"]
    task = data.get("task")
    names = ("id", "due_by", "report_to", "report_token")
    return Message(
        id=message_id,
        type=sent["type"],
        subject=data.get("subject", ""),
        account=data.get("account", ""),
        version=data.get("version"),
        task=Task(**{name: task[name] for name in names}) if task else None,
        data=data,
    )


def _code_in(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["code"])
    except (ValueError, TypeError, KeyError):
        return ""


def _forget_oldest(known: dict[str, Any]) -> None:
    if len(known) > MAX_REMEMBERED:
        del known[next(iter(known))]
