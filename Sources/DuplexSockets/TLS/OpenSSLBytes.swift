// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

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
