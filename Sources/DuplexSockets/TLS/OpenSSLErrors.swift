// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

/// The errors that OpenSSL leaves in a queue of the calling thread.
enum OpenSSLErrors {
    /// One of them.
    struct Entry {
        var library: Int32
        var reason: Int32
        var text: String
    }

    /// Forgets what is queued, which a call that is asked for its error later needs.
    static func clear() {
        ERR_clear_error()
    }

    /// Takes all that is queued; the first, and what it is called.
    static func takeFirst() -> Entry? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        var text = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        if text == nil, cduplex_error_library(code) == ERR_LIB_SYS {
            text = SocketError.text(of: cduplex_error_reason(code))
        }
        return Entry(
            library: cduplex_error_library(code),
            reason: cduplex_error_reason(code),
            text: text ?? "OpenSSL error \(String(code, radix: 16))"
        )
    }

    /// Takes all that is queued, and says what the first is.
    static func take() -> String {
        takeFirst()?.text ?? "nothing more is known"
    }
}
