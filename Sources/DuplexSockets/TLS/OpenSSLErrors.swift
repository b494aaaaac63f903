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

/// Bytes and texts that OpenSSL makes.
enum OpenSSLBytes {
    /// What an `i2d` function encodes.
    ///
    /// - Parameter encode: called with `nil` for the length, and then with the place to write to.
    /// - Returns: the bytes; none when it fails.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let length = encode(nil)
        guard length > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var position = buffer.baseAddress
            count = unsafe Int(encode(&position))
        }
    }

    /// What `write` prints into a memory BIO.
    static func text(_ write: (OpaquePointer) -> Void) -> String {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return "" }
        defer { unsafe BIO_free(bio) }
        unsafe write(bio)
        var start: UnsafePointer<CChar>?
        let count = unsafe cduplex_bio_memory(bio, &start)
        guard let start = unsafe start, count > 0 else { return "" }
        return unsafe UnsafeRawBufferPointer(start: start, count: count).withMemoryRebound(to: UInt8.self) {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = unsafe CDuplexOpenSSL.SHA256(bytes, bytes.count, &digest)
        return digest
    }

    static func base64(_ bytes: [UInt8]) -> String {
        // Four digits for each three bytes, and a zero at the end.
        var digits = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&digits, bytes, Int32(bytes.count))
        return String(decoding: digits.prefix(Int(count)), as: UTF8.self)
    }
}
