# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Makes three requests with Digest by the package `requests`, and prints what comes back.

    requests_client.py URL USER PASSWORD
"""

import sys

import requests
from requests.auth import HTTPDigestAuth

url, user, password = sys.argv[1:]
with requests.Session() as session:
    # No proxy and no .netrc of the machine's.
    session.trust_env = False
    session.auth = HTTPDigestAuth(user, password)
    for response in (
        session.get(url + "/a"), session.get(url + "/b", params={"c": "d e"}),
        session.post(url + "/body", data=b"x" * 1000),
    ):
        print(response.status_code, response.text.split("\n")[0])
