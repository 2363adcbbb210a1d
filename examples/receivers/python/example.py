# A connected application that accepts deletion tasks and reports on them.
# PORT=4711 SIGNING_SECRET=whsec_… python3 examples/receivers/python/example.py
import os
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server
from account_receiver import Deletions, Receiver

people = set(os.environ.get("ACCOUNTS", "").split())  # Yours stand in your database.

def delete(account, progress):
    for number in (1, 2, 3):  # Your deletion of `account` goes here.
        progress(number, 3)
    people.discard(account)
    return {"records": 3}

deletions = Deletions(delete)

def handle(message):
    return deletions.accept(message) if message.type == "account.withdrawn" else "done"

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

receiver = Receiver(os.environ["SIGNING_SECRET"].split(), handle, is_present=people.__contains__)
make_server("127.0.0.1", int(os.environ["PORT"]), receiver, server_class=Server).serve_forever()
