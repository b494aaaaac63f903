# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A mail server with STARTTLS, by aiosmtpd (PyPI).

    smtp_server.py [CERTIFICATES KEY]

Without a certificate it has no STARTTLS; with one it takes mail over TLS only. Prints "port N" when it listens, and for each
message that it gets a line: "message", how it came ("secured" or "plain"), the sender, the recipients, and its bytes in base64.
Ends when its input does.
"""

import asyncio
import base64
import ssl
import sys

from aiosmtpd.smtp import SMTP


class Mailbox:
    """Takes every message."""

    async def handle_DATA(self, server, session, envelope):
        content = base64.b64encode(envelope.original_content).decode()
        way = "secured" if session.ssl is not None else "plain"
        print("message", way, envelope.mail_from, ",".join(envelope.rcpt_tos), content, flush=True)
        return "250 taken"


async def main(files):
    context = None
    if files:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*files)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(Mailbox(), hostname="mail.test", tls_context=context, require_starttls=bool(files), loop=loop),
        "127.0.0.1", 0,
    )
    print("port", server.sockets[0].getsockname()[1], flush=True)
    # Read by a thread, since it blocks.
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main(sys.argv[1:]))
