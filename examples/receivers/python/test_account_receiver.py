import base64, hmac, json, threading, unittest
from account_receiver import Deletions, Receiver

OLD, NEW = ("whsec_" + base64.b64encode(name).decode() for name in (b"old secret", b"new secret"))
NOW = 1_795_000_000

def signed(message_id, body, *, by=NEW, at=NOW):
    key = base64.b64decode(by.removeprefix("whsec_"))
    mac = hmac.digest(key, f"{message_id}.{at}.".encode() + body, "sha256")
    signature = "v1," + base64.b64encode(mac).decode()
    return {"webhook-id": message_id, "webhook-timestamp": str(at), "webhook-signature": signature}

def body_of(type, **data):
    return json.dumps({"type": type, "timestamp": "t", "data": {"subject": "42", "account": "usr_1", **data}}).encode()

class ReceiverTest(unittest.TestCase):
    def setUp(self):
        self.handled = []
        self.receiver = Receiver([OLD, NEW], self.handle, now=lambda: NOW)

    def handle(self, message):
        self.handled.append((message.id, message.version))
        return "done"

    def send(self, message_id, type, **data):
        body = body_of(type, **data)
        return self.receiver.answer(signed(message_id, body), body)[0]

    def test_takes_either_secret_and_refuses_what_is_unsigned_changed_or_old(self):
        body = body_of("account.password_changed")
        for by in (OLD, NEW):
            self.assertEqual(self.receiver.answer(signed(f"by {by}", body, by=by), body)[0], 200)
        other = "whsec_" + base64.b64encode(b"another").decode()
        wrong = [({}, body), (signed("m", body), body + b" "), (signed("m", body, by=other), body)]
        wrong += [(signed("m", body, at=NOW + off), body) for off in (-301, 301)]
        self.assertEqual([self.receiver.answer(*one)[0] for one in wrong], [401] * 5)
        self.assertEqual(len(self.handled), 2)
        for secrets in ([], [""], ["whsec_"]):
            self.assertRaises(ValueError, Receiver, secrets, self.handle)

    def test_handles_a_message_once(self):
        self.assertEqual([self.send("m", "account.purged") for _ in range(3)], [200] * 3)
        self.assertEqual(len(self.handled), 1)

    def test_never_hands_on_an_address_that_is_older_than_the_known_one_or_of_a_withdrawn_account(self):
        self.send("2", "account.email_changed", version=2)
        self.assertEqual(self.send("1", "account.email_changed", version=1), 200)
        self.send("7", "account.password_changed", version=7)
        self.send("3", "account.email_reverted", version=3)
        self.send("end", "account.withdrawn")
        self.assertEqual(self.send("4", "account.email_changed", version=4), 200)
        self.assertEqual([name for name, _ in self.handled], ["2", "7", "3", "end"])

    def test_an_error_of_the_handler_has_the_message_come_again(self):
        outcomes = [OSError("away"), "later", "done"]
        def handle(message):
            outcome = outcomes.pop(0)
            if isinstance(outcome, OSError):
                raise outcome
            return outcome
        self.receiver = Receiver([NEW], handle, now=lambda: NOW)
        with self.assertLogs("account_receiver"):
            self.assertEqual(self.send("m", "account.email_changed", version=1), 500)
        self.assertEqual([self.send("m", "account.email_changed", version=1) for _ in range(3)], [202, 200, 200])

    def test_a_deletion_without_a_task_cannot_be_done_later(self):
        task = {name: "x" for name in ("id", "due_by", "report_to", "report_token")}
        self.receiver = Receiver([NEW], lambda message: "later", now=lambda: NOW)
        with self.assertLogs("account_receiver") as logged:
            self.assertEqual(self.send("m", "account.withdrawn"), 500)
        self.assertIn("--acknowledges later", logged.output[0])
        self.assertEqual(self.send("m", "account.withdrawn", task=task), 202)

    def test_answers_a_question_only_where_it_can(self):
        self.assertEqual(self.send("m", "account.withdrawal_check"), 501)
        self.receiver = Receiver([NEW], self.handle, lambda subject, account: [{"code": account}], now=lambda: NOW)
        body = body_of("account.withdrawal_check")
        answer = self.receiver.answer(signed("m", body), body)
        self.assertEqual(answer, (200, b'{"blockers": [{"code": "usr_1"}]}'))

    def test_says_by_the_account_whether_anything_of_it_is_there(self):
        self.assertEqual(self.send("m", "account.absence_check"), 501)
        people = {"usr_1"}
        self.receiver = Receiver([NEW], self.handle, now=lambda: NOW, is_present=people.__contains__)
        body = body_of("account.absence_check")
        for answer in (b'{"present": true, "account": "usr_1"}', b'{"present": false, "account": "usr_1"}'):
            self.assertEqual(self.receiver.answer(signed("m", body), body), (200, answer))
            people.clear()

    def test_a_deletion_that_comes_again_is_handled_again(self):
        self.assertEqual([self.send("m", "account.withdrawn") for _ in range(2)], [200, 200])
        self.assertEqual(len(self.handled), 2)

    def test_a_deletion_without_a_task_is_done_with_the_answer(self):
        deleted = []
        deletions = Deletions(lambda account, progress: deleted.append(account) or {})
        self.receiver = Receiver([NEW], deletions.accept, now=lambda: NOW)
        self.assertEqual(self.send("m", "account.withdrawn"), 200)
        self.assertEqual(deleted, ["usr_1"])

    def test_two_messages_of_an_account_are_handled_one_after_the_other(self):
        first, second = threading.Event(), threading.Event()
        order = []
        def handle(message):
            if message.version == 1:
                first.set()
                order.append("second waits" if not second.wait(0.05) else "both at once")
            else:
                second.set()
            order.append(message.version)
            return "done"
        self.receiver = Receiver([NEW], handle, now=lambda: NOW)
        older = threading.Thread(target=self.send, args=("1", "account.email_changed"), kwargs={"version": 1})
        older.start()
        first.wait()
        self.send("2", "account.email_changed", version=2)
        older.join()
        self.assertEqual(order, ["second waits", 1, 2])

if __name__ == "__main__":
    unittest.main()
