#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Has Chromium load two pages for which it needs a name and a password, and plays the user who is asked for them.

    login_check.py http://localhost:8080/ USER PASSWORD [--deadline SECONDS] [--wrong-first] [--until TEXT]

Prints what the user was asked, each time, and the texts of the pages. Needs what devtools.py needs.
"""

import argparse
import asyncio
import sys

from devtools import CheckFailed, Page, browser
from websockets.exceptions import WebSocketException


class Login(Page):
    """A tab whose questions for a password are answered."""

    def __init__(self, tools, session, user, passwords):
        super().__init__(tools, session, "page")
        self.user = user
        # Given in turn, the last one again and again.
        self.passwords = passwords
        self.answers = set()

    def noticed(self, event, details):
        super().noticed(event, details)
        if event == "Fetch.requestPaused":
            self.answer("Fetch.continueRequest", requestId=details["requestId"])
        elif event == "Fetch.authRequired":
            challenge = details["authChallenge"]
            print(f"asked for {challenge['realm']} by {challenge['scheme']}")
            password = self.passwords.pop(0) if len(self.passwords) > 1 else self.passwords[0]
            answer = {"response": "ProvideCredentials", "username": self.user, "password": password}
            self.answer("Fetch.continueWithAuth", requestId=details["requestId"], authChallengeResponse=answer)

    def answer(self, method, **parameters):
        call = asyncio.create_task(self.call(method, **parameters))
        self.answers.add(call)
        call.add_done_callback(self.answers.discard)


async def check(options):
    async with browser(options.deadline) as tools:
        target = await tools.call("Target.createTarget", url="about:blank", newWindow=True)
        attached = await tools.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        passwords = ["not this one"] * options.wrong_first + [options.password]
        page = Login(tools, attached["sessionId"], options.user, passwords)
        # Pages only: a browser also asks for an icon, which is another request with the nonce.
        patterns = [{"urlPattern": "*", "resourceType": "Document"}]
        await page.call("Fetch.enable", handleAuthRequests=True, patterns=patterns)
        for name in ("a", "b"):
            text = None
            while text is None or not text.strip().endswith(options.until):
                await page.load(options.url + name)
                # A page may have a promise in `told`, for what it does behind its loading.
                text = await page.evaluate("Promise.resolve(self.told).then(() => document.body.innerText)")
            print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("user")
    parser.add_argument("password")
    parser.add_argument("--deadline", type=float, default=20)
    parser.add_argument("--wrong-first", action="store_true", help="give a wrong password when asked first")
    parser.add_argument("--until", default="", help="load each page again until its text ends so")
    options = parser.parse_args()
    try:
        asyncio.run(check(options))
    except (CheckFailed, WebSocketException, TimeoutError) as failure:
        sys.exit(f"failed: {failure!r}")


main()
