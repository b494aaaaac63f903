// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

/// The memory of a loop that its secured connections share: each uses it for the length of one call.
@safe package final class TLSMemory {
    /// The most that is decrypted at once; pages that were never needed are never touched.
    static let plaintextSize = 256 * 1_024
    /// Room for 64 KiB in records, with what handshakes send.
    static let ciphertextSize = 96 * 1_024

    let plaintext: UnsafeMutableRawBufferPointer
    private let ciphertext: UnsafeMutableRawBufferPointer
    private(set) var ciphertextCount = 0

    package init() {
        unsafe plaintext = .allocate(byteCount: Self.plaintextSize, alignment: 64)
        unsafe ciphertext = .allocate(byteCount: Self.ciphertextSize, alignment: 64)
        unsafe plaintext.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe ciphertext.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        unsafe plaintext.deallocate()
        unsafe ciphertext.deallocate()
    }

    /// Takes what OpenSSL sends, as far as there is room.
    ///
    /// - Returns: how many bytes were taken.
    func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, Self.ciphertextSize - ciphertextCount)
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: ciphertext[ciphertextCount...])
        unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        ciphertextCount += count
        return count
    }

    /// Hands over what OpenSSL has sent, and forgets it.
    package func drain(_ body: (RawSpan) -> Void) {
        guard ciphertextCount > 0 else { return }
        let waiting = unsafe UnsafeRawBufferPointer(rebasing: ciphertext[..<ciphertextCount])
        ciphertextCount = 0
        body(unsafe waiting.bytes)
    }

    /// Lends what was decrypted last; valid until something else is.
    package func withPlaintext(_ count: Int, _ body: (inout MutableRawSpan) -> Void) {
        var span = unsafe UnsafeMutableRawBufferPointer(rebasing: plaintext[..<count]).mutableBytes
        body(&span)
    }
}

/// What one connection of OpenSSL reads from and writes to: memory that is lent for the length of a call.
@safe final class TLSMemoryBIO {
    private let memory: TLSMemory
    /// What has come from the network and OpenSSL hasn't read yet.
    private var input = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    /// What was left of it by the calls before, when plaintext wasn't wanted.
    private var left: [UInt8] = []

    init(_ memory: TLSMemory) {
        self.memory = memory
    }

    /// The bytes of the network that wait to be decrypted.
    var inputCount: Int { unsafe input.isEmpty ? left.count : input.count }

    /// Has OpenSSL read those bytes, behind what was left before, during `body`; keeps what it leaves.
    func withInput<Result>(_ bytes: RawSpan, _ body: () -> Result) -> Result {
        if left.isEmpty {
            return unsafe bytes.withUnsafeBytes { lent in
                let result = unsafe lend(lent, body)
                unsafe left = Array(result.rest)
                return unsafe result.result
            }
        }
        left.append(bytes)
        return withRest(body)
    }

    /// The same with what was left alone.
    func withRest<Result>(_ body: () -> Result) -> Result {
        let waiting = left
        left = []
        return unsafe waiting.withUnsafeBytes { lent in
            let result = unsafe lend(lent, body)
            unsafe left = Array(result.rest)
            return unsafe result.result
        }
    }

    private func lend<Result>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: () -> Result
    ) -> (result: Result, rest: UnsafeRawBufferPointer) {
        unsafe input = unsafe bytes
        let result = body()
        defer { unsafe input = UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe (result, input)
    }

    private func read(_ target: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe min(target.count, input.count)
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        unsafe input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    // MARK: As OpenSSL sees it

    /// A BIO over this memory; it must not outlive it.
    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe Self.method.pointer, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    private static func of(_ bio: OpaquePointer?) -> TLSMemoryBIO? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<TLSMemoryBIO>.fromOpaque(data).takeUnretainedValue()
    }

    // `@unchecked`: the pointer isn't Sendable. The method is set up once, here, and only read afterwards.
    @safe private struct Method: @unchecked Sendable {
        let pointer: OpaquePointer?
    }

    private static let method: Method = {
        let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "duplex")
        unsafe BIO_meth_set_read(method) { bio, target, count in
            unsafe cduplex_bio_clear_retry(bio)
            guard let memory = unsafe TLSMemoryBIO.of(bio), let target = unsafe target, count > 0 else { return 0 }
            let taken = unsafe memory.read(UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
            if taken > 0 { return Int32(taken) }
            unsafe cduplex_bio_retry_read(bio)
            return -1
        }
        unsafe BIO_meth_set_write(method) { bio, source, count in
            unsafe cduplex_bio_clear_retry(bio)
            guard let memory = unsafe TLSMemoryBIO.of(bio), let source = unsafe source, count > 0 else { return 0 }
            let taken = unsafe memory.memory.take(UnsafeRawBufferPointer(start: source, count: Int(count)))
            if taken > 0 { return Int32(taken) }
            unsafe cduplex_bio_retry_write(bio)
            return -1
        }
        // Flushing is done by whoever drains the memory; nothing else is asked for that matters.
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return unsafe Method(pointer: method)
    }()
}
