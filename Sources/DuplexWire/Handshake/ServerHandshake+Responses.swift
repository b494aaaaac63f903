// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

extension ServerHandshake {
    /// Judges a request by every rule of RFC 6455 section 4.2.1, with this module's own SHA-1, and answers it by section 4.2.2.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - options: Subprotocols, origins and extensions. Default: none, pages of the same host, none.
    /// - Returns: The 101 to send, or the fault of the request and the status to refuse it with.
    public static func evaluate(
        _ head: RequestHead,
        options: ServerHandshakeOptions = ServerHandshakeOptions()
    ) -> Outcome {
        evaluate(head, options: options, digest: AcceptDigest.sha1)
    }
}

extension ServerHandshake.Acceptance {
    /// The bytes of ``responseHead``, to send before the first frame.
    public var responseBytes: [UInt8] {
        var bytes: [UInt8] = []
        responseHead.write(to: &bytes)
        return bytes
    }
}

extension ServerHandshake.Refusal {
    /// The bytes of a whole response: the status, the fields, and the message as a body of text.
    ///
    /// The response says `Connection: close`; end the transport after it.
    public var responseBytes: [UInt8] {
        var fields = headers
        fields[.contentType] = "text/plain; charset=utf-8"
        fields[.contentLength] = "\(message.utf8.count)"
        let upgrade = fields[.upgrade] == nil ? "" : ", Upgrade"
        fields[.connection] = "close" + upgrade
        var bytes: [UInt8] = []
        ResponseHead(status: status, headers: fields).write(to: &bytes)
        return bytes + message.utf8
    }
}
