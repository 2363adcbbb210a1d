# A connected application that accepts deletion tasks and reports on them.
# PORT=4711 SIGNING_SECRET=whsec_… python3 examples/receivers/receiver.py
import base64, hmac, json, os, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# After a rotation: the old secret and the new one, with a space between them.
KEYS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["SIGNING_SECRET"].split()]
# Yours stands in your database. What only this process knows is lost with it, and asked for again a day later.
states = {}
lock = threading.Lock()

def is_signed(headers, body):
    message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (sent_at.isascii() and sent_at.isdigit()) or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{message_id}.{sent_at}.".encode() + body
    expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256")) for key in KEYS]
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, other) for one in given for other in expected)

def report(task, said):
    headers = {"Authorization": f"Bearer {task['report_token']}", "Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(task["report_to"], json.dumps(said).encode(), headers), timeout=10).close()

def delete(message_id, account, task):
    try:
        for number in (1, 2, 3):  # Your deletion of `account` goes here. Another one may have the same `subject` by now.
            report(task, {"status": "processing", "progress": {"done": number, "total": 3}})
        report(task, {"status": "completed", "records": 3})
        states[message_id] = "done"
    except OSError:  # The message comes again when no report has come for a day, and then it begins anew.
        del states[message_id]

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 65536))
        self.send_response(self.status_for(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def status_for(self, body):
        if not is_signed(self.headers, body):
            return 401
        try:
            message_id, message = self.headers["webhook-id"], json.loads(body)
        except ValueError:
            return 400
        if message["type"] != "account.withdrawn" or "task" not in message["data"]:
            return 200
        with lock:
            state = states.setdefault(message_id, "new")
            if state == "new":
                states[message_id] = "begun"
                threading.Thread(target=delete, args=(message_id, message["data"]["account"], message["data"]["task"])).start()
        return 200 if state == "done" else 202

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
