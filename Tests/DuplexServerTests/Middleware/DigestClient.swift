// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes

/// Answers the challenges of a response, as any client would, and as none should.
struct DigestClient {
    var user = "mia"
    var password = "pä:ss"
    var algorithm = DigestAlgorithm.sha256

    /// The challenge of the algorithm; nil if the response has none.
    func challenge(_ response: TestResponse) -> DigestChallenge? {
        AuthenticationChallenge.parse(response.headers[values: .wwwAuthenticate]).compactMap(DigestChallenge.init)
            .first { $0.algorithm == algorithm }
    }

    /// The field for another request.
    func headers(
        _ response: TestResponse,
        _ target: String,
        method: HTTPRequest.Method = .get,
        count: UInt32 = 1
    ) -> HTTPFields {
        let value = challenge(response)?.answer(
            PasswordCredentials(user: user, password: password),
            method: method.rawValue,
            target: target,
            clientNonce: "c-nonce",
            count: count,
            digest: HTTPDigest.digest
        )
        return [.authorization: value ?? ""]
    }
}

extension TestResponse {
    /// Whether it says that nothing but the nonce was wrong.
    var isStale: Bool {
        AuthenticationChallenge.parse(headers[values: .wwwAuthenticate]).contains { $0["stale"] == "true" }
    }
}
