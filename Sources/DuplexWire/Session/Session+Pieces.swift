// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Messages of any length, piece by piece, in bounded memory.

extension Session {
    /// Gives messages that begin from here on in pieces, as they come: ``Event/piece(_:)`` instead of ``Event/message(_:_:)``.
    ///
    /// The pieces of a message make up its payload; where they are cut depends on how it arrived, and nothing else does. All
    /// that is right before a fault is given before the fault. Of ``MessageLimits`` only the number of fragments holds, and counts
    /// those without payload. A message that has begun comes as it began. The owner asks ``nextEvent(in:at:now:)`` then, and
    /// not for whole messages, and asks until there is no event: there may be more when all of the input is taken.
    ///
    /// - Parameter limit: the longest message, in bytes after inflating; a longer one fails with 1009. Default: no
    ///   limit.
    public func streamMessages(limit: ByteCount = .unlimited) {
        let streaming = streaming ?? MessageStreaming()
        streaming.isOn = true
        streaming.limit = limit
        self.streaming = streaming
    }

    /// Begins to count frames for ``takeCountedFrames()``.
    public func countFrames() {
        streaming = streaming ?? MessageStreaming()
    }

    /// The messages and control frames that have begun since the last call, besides those that
    /// ``nextWholeMessage(in:at:now:)`` gave; 0 where nothing is counted.
    public func takeCountedFrames() -> Int {
        defer { streaming?.frames = 0 }
        return streaming?.frames ?? 0
    }

    /// Whether messages that begin from here on are given in pieces.
    public var streamsMessages: Bool { streaming?.isOn == true }

    /// Whether ``nextEvent(in:at:now:)`` has something to give without further input.
    public var hasMoreToGive: Bool {
        guard let streaming else { return false }
        if streaming.failure != nil { return true }
        return isMidFrame && !frame.opcode.isControl && streaming.incoming != nil
            && (frame.remaining == 0 || streaming.incoming?.inflatesMore == true)
    }

    /// Takes what there is of the payload of a message that is given in pieces.
    func takePiece(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ streaming: MessageStreaming
    ) throws(ProtocolError) -> Event? {
        if let compression, compression.isInflating {
            return try inflatePiece(&input, &position, streaming, compression)
        }
        let range = position..<(position + payloadCount(input, position, MessagePiece.largest))
        unmask(&input, range)
        position = range.upperBound
        tap?.arrived(input.bytes.extracting(range))
        if frame.remaining == 0 { endFrame() }
        let isLast = frame.remaining == 0 && frame.isFinal
        return try give(input.bytes.extracting(range), isLast, nil, streaming) { count in
            .input(range.lowerBound..<(range.lowerBound + count))
        }
    }

    private func endFrame() {
        isMidFrame = false
        tap?.ended()
    }

    private func payloadCount(_ input: borrowing MutableRawSpan, _ position: Int, _ most: Int) -> Int {
        min(Int(min(frame.remaining, UInt64(input.byteCount - position))), most)
    }

    private func unmask(_ input: inout MutableRawSpan, _ range: Range<Int>) {
        if frame.key != 0 {
            input.mask(range, with: frame.key)
            frame.key = Masking.rotated(frame.key, by: range.count)
        }
        frame.remaining -= UInt64(range.count)
    }

    /// Makes a piece of what came, as far as it is right.
    ///
    /// - Throws: what is wrong, when nothing comes before it.
    private func give(
        _ bytes: RawSpan,
        _ isLast: Bool,
        _ fault: ProtocolError?,
        _ streaming: MessageStreaming,
        _ payload: (Int) -> Payload
    ) throws(ProtocolError) -> Event? {
        guard var incoming = streaming.incoming else { return nil }
        let checked = incoming.check(bytes, isLast: isLast)
        streaming.failure = checked.failure ?? fault
        if checked.count == 0, let failure = streaming.failure { throw failure }
        let ends = isLast && streaming.failure == nil
        if checked.count == 0 && !ends {
            streaming.incoming = incoming
            return nil
        }
        let isFirst = incoming.give(checked.count)
        streaming.incoming = ends ? nil : incoming
        if ends {
            isMidMessage = false
            countArrived(incoming.count, lastHeard)
            if let compression, compression.isInflating { compression.endMessage(inflated: incoming.count) }
        }
        return .piece(
            MessagePiece(kind: incoming.kind, isFirst: isFirst, isLast: ends, payload: payload(checked.count))
        )
    }

    // MARK: Compressed messages

    /// The most input that is unmasked before it is inflated: what the inflater leaves is masked again.
    private static let inflatingStep = 4 * 1_024

    private func inflatePiece(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ streaming: MessageStreaming,
        _ compression: MessageCompression
    ) throws(ProtocolError) -> Event? {
        var output: [UInt8] = []
        var step = InflateStep.more
        let allowed = streaming.incoming?.allowed ?? 0
        while step == .more, output.count < MessagePiece.largest, output.count <= allowed {
            let most = min(MessagePiece.largest - output.count, allowed == .max ? .max : allowed - output.count + 1)
            step = inflateStep(&input, &position, &output, most, streaming, compression.inflater)
        }
        if step == .frameTaken || step == .messageTaken { endFrame() }
        var fault = step == .corrupt ? ProtocolError.malformedCompression : nil
        if output.count > allowed {
            output.removeLast(output.count - allowed)
            fault = streaming.incoming?.tooLarge
        }
        return try give(output.span.raw, step == .messageTaken && fault == nil, fault, streaming) { count in
            .assembled(count == output.count ? output : Array(output.prefix(count)))
        }
    }

    private enum InflateStep {
        /// There may be more at once.
        case more
        /// All of the input is taken, and more of the frame is to come.
        case inputTaken
        /// The frame is taken, which isn't the last of its message.
        case frameTaken
        /// The message is complete.
        case messageTaken
        /// What came isn't valid.
        case corrupt
    }

    private func inflateStep(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ output: inout [UInt8],
        _ most: Int,
        _ streaming: MessageStreaming,
        _ inflater: any MessageInflater
    ) -> InflateStep {
        let count = payloadCount(input, position, Self.inflatingStep)
        let inflatesMore = streaming.incoming?.inflatesMore == true
        if count == 0 && !inflatesMore {
            if frame.remaining > 0 { return .inputTaken }
            if !frame.isFinal { return .frameTaken }
            switch inflater.inflateEnd(into: &output, upTo: min(most, 1_024)) {
            case .outputFull: return .more
            case .inputTaken: return .messageTaken
            case .corrupt: return .corrupt
            }
        }
        let room = min(most, max(1_024, 4 * count, inflatesMore ? Self.inflatingStep : 0))
        let key = frame.key
        let range = position..<(position + count)
        unmask(&input, range)
        var taken = 0
        let progress = inflater.inflate(input.bytes.extracting(range), from: &taken, into: &output, upTo: room)
        position += taken
        tap?.arrived(input.bytes.extracting(range.lowerBound..<position))
        if taken < count {
            // The owner hands in these again, perhaps from elsewhere, and as they came.
            frame.remaining += UInt64(count - taken)
            frame.key = key == 0 ? 0 : Masking.rotated(key, by: taken)
            if key != 0 { input.mask(position..<range.upperBound, with: frame.key) }
        }
        streaming.incoming?.inflatesMore = progress == .outputFull
        return progress == .corrupt ? .corrupt : .more
    }
}
