// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexISAL

// With DeflateEngine.swift what says `unsafe` for ISA-L: it is called with memory that is lent for the length of a call.

/// ISA-L's inflate with its memory, 110 KiB: what one event loop has.
///
/// Holds what is inflated in a buffer of 64 KiB, behind the window; whoever uses the engine takes it from there.
@safe final class InflateEngine {
    /// How a call ended.
    enum Status {
        /// All of the input is taken, and all that it gives is in the buffer.
        case inputTaken
        /// The buffer is full; there may be more when it is given away.
        case bufferFull
        /// The last block of the stream has ended; there may be input behind it.
        case ended
        /// The input isn't deflate, or refers to what lies before the window.
        case corrupt
    }

    private let state: OpaquePointer
    /// What the state was before the call at hand, but for the buffer.
    private var mark = [UInt8](repeating: 0, count: Int(CDUPLEX_BUFFER))
    private var markSize = 0
    /// How much of the buffer was given away, which is the window; behind it is what waits.
    private(set) var given = 0
    /// Whose stream it is, if anybody's.
    private(set) var stream: InflateStream?

    /// Inputs shorter than that ISA-L takes symbol by symbol.
    private static let carefulSize = 7
    /// What of the window a reference may reach (RFC 1951 section 3.2.5).
    static let windowSize = 32 * 1_024
    /// From how much in the buffer on room is made before more is inflated.
    private static let crowdedSize = 48 * 1_024

    /// Makes an engine; nil without memory for it.
    init?() {
        guard let state = unsafe cduplex_inflater_new() else { return nil }
        unsafe self.state = state
    }

    deinit {
        unsafe cduplex_inflater_free(state)
    }

    // MARK: Streams

    /// Goes on with a stream: the one before it is left as it is.
    func use(_ stream: InflateStream) {
        if self.stream === stream { return }
        leave()
        // Lent for the length of the call, which copies them.
        unsafe stream.bytes.withUnsafeBufferPointer { bytes in
            unsafe cduplex_inflater_begin(state, bytes.baseAddress, bytes.count)
        }
        given = stream.given
        if !stream.saved.isEmpty { restore(stream.saved, stream.saved.count, count: stream.bytes.count) }
        stream.bytes = []
        stream.saved = []
        self.stream = stream
    }

    /// Hands the stream at hand what is needed to go on with it: its window, and within a message the rest.
    func leave() {
        guard let stream else { return }
        self.stream = nil
        let count = count
        let start = max(0, min(given, count - (1 << stream.windowBits)))
        stream.bytes = []
        stream.bytes.reserveCapacity(count - start)
        copy(start..<count, into: &stream.bytes)
        stream.given = given - start
        if stream.isMidMessage {
            setMark()
            stream.saved = Array(mark.prefix(markSize))
        }
    }

    /// Forgets the stream at hand, if it is this one.
    func drop(_ stream: InflateStream) {
        if self.stream === stream { self.stream = nil }
    }

    // MARK: Inflating

    /// What is in the buffer: the window, and what waits behind it.
    private var count: Int { unsafe cduplex_inflater_count(state) }

    /// What is inflated and wasn't given away.
    var waiting: Int { count - given }

    /// Appends what waits, as far as there is room.
    func give(into output: inout [UInt8], upTo room: Int) {
        let end = given + min(waiting, room)
        copy(given..<end, into: &output)
        given = end
    }

    private func copy(_ range: Range<Int>, into output: inout [UInt8]) {
        if range.isEmpty { return }
        // Within what ISA-L says that there is.
        unsafe output.append(
            contentsOf: UnsafeBufferPointer(
                start: cduplex_inflater_output(state) + range.lowerBound,
                count: range.count
            )
        )
    }

    /// Inflates input from `position` on into the buffer, of which nothing waits.
    ///
    /// Where something is corrupt, all that is right before it waits, and nothing else. In its hurry ISA-L counts a match
    /// as written before it has looked at its distance, so what was in the buffer before would come out: what has failed
    /// is done again, in steps that are too short to hurry.
    func inflate(_ input: RawSpan, from position: inout Int) -> Status {
        makeRoom()
        let rest = input.extracting(position..<input.byteCount)
        if rest.byteCount > Self.carefulSize { setMark() }
        let count = count
        let result = run(rest)
        if !result.isCorrupt {
            position = input.byteCount - result.left
            return status(result.left)
        }
        // What is left isn't known of a call that has failed; nothing more of this connection is inflated.
        if rest.byteCount > Self.carefulSize {
            restore(mark, markSize, count: count)
            runCarefully(rest)
        }
        position = input.byteCount
        return .corrupt
    }

    private func makeRoom() {
        guard count >= Self.crowdedSize else { return }
        unsafe cduplex_inflater_slide(state, Self.windowSize)
        given = count
    }

    private func status(_ left: Int) -> Status {
        if unsafe cduplex_inflater_has_ended(state) != 0 { return .ended }
        return left > 0 || count >= cduplex_inflater_room() ? .bufferFull : .inputTaken
    }

    private func run(_ input: RawSpan) -> (isCorrupt: Bool, left: Int) {
        var left = 0
        // Lent for the length of the call, with its length.
        let result = unsafe input.withUnsafeBytes { input in
            unsafe cduplex_inflater_run(
                state,
                input.baseAddress?.assumingMemoryBound(to: UInt8.self),
                input.count,
                &left
            )
        }
        return (result < 0, left)
    }

    private func runCarefully(_ input: RawSpan) {
        var position = 0
        while position < input.byteCount {
            let end = min(position + Self.carefulSize, input.byteCount)
            let result = run(input.extracting(position..<end))
            // A full buffer takes nothing more, and what has failed did so without more of it: nothing right comes behind. Nor may
            // a step that takes nothing be done again.
            if result.isCorrupt || count >= cduplex_inflater_room() || result.left == end - position { return }
            position = end - result.left
        }
    }

    private func setMark() {
        // As long as the longest that is saved.
        unsafe mark.withUnsafeMutableBufferPointer { target in
            if let start = target.baseAddress { markSize = unsafe cduplex_inflater_save(state, start) }
        }
    }

    /// Makes the state what it was, with so much in the buffer, which is there.
    private func restore(_ bytes: [UInt8], _ size: Int, count: Int) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            if let start = bytes.baseAddress { unsafe cduplex_inflater_restore(state, start, size, count) }
        }
    }

    // MARK: Ends

    /// Whether it stands between two blocks, and not within one.
    var isBetweenBlocks: Bool { unsafe cduplex_inflater_is_between_blocks(state) != 0 }

    /// Whether whole bytes of the input were taken that aren't inflated.
    var hasBytes: Bool { unsafe cduplex_inflater_bits(state) >= 8 }

    /// Has a stream that has ended begin again, with its window as it is.
    func beginAgain() {
        unsafe cduplex_inflater_begin_again(state)
    }
}

/// One direction of a connection, while the engine is somebody else's.
final class InflateStream {
    let windowBits: Int
    /// Whether something of the message at hand was taken.
    var isMidMessage = false
    /// The window, and behind it what waits to be given.
    fileprivate(set) var bytes: [UInt8] = []
    fileprivate(set) var given = 0
    /// Within a message, what the engine needs to go on with it.
    fileprivate(set) var saved: [UInt8] = []

    init(windowBits: Int) {
        self.windowBits = windowBits
    }
}
