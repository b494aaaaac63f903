// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One event of an event stream, as a server sends it (WHATWG HTML section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The text; its line ends reach the client as line feeds.
    ///
    /// An event without any isn't seen by a page: it sets what its other fields say.
    public let data: String?
    /// The type that a page listens for; `message` where there is none.
    public let event: String?
    /// What the client sends as `Last-Event-ID` when it connects again.
    ///
    /// An empty one has it send none.
    public let id: String?
    /// How long the client waits before it connects again, in whole milliseconds.
    package let retry: Duration?

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - data: the text; any, of any number of lines.
    ///   - event: the type; `message` without one.
    ///   - id: unique among the events of the stream.
    ///   - retry: how long the client is to wait before it connects again; a negative one is none.
    /// - Throws: ``EventStreamError`` with ``EventStreamError/Code/invalidField`` when the type or the id has a line end or
    ///   U+0000: whoever has made it could make events of their own otherwise.
    public init(
        _ data: String?,
        event: String? = nil,
        id: String? = nil,
        retry: Duration? = nil
    ) throws(EventStreamError) {
        if let event { try Self.check(event, "type") }
        if let id { try Self.check(id, "id") }
        self.data = data
        self.event = event
        self.id = id
        self.retry = retry.map { max($0, .zero) }
    }

    private static func check(_ text: String, _ field: String) throws(EventStreamError) {
        guard text.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else { return }
        let quotation = Quotation.of(text)
        throw EventStreamError(.invalidField, "The \(field) of an event has a line end or U+0000 in it: \(quotation).")
    }

    /// The same event with another id.
    ///
    /// - Parameter id: the id; `nil` for none.
    /// - Returns: the event.
    /// - Throws: ``EventStreamError`` as the initialiser does.
    package func with(id: String?) throws(EventStreamError) -> ServerSentEvent {
        try ServerSentEvent(data, event: event, id: id, retry: retry)
    }

    /// The event as it is sent.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32 + (data?.utf8.count ?? 0) + (event?.utf8.count ?? 0) + (id?.utf8.count ?? 0))
        write(to: &bytes)
        return bytes
    }

    /// Appends the event as it is sent.
    ///
    /// - Parameter bytes: what it is appended to.
    package func write(to bytes: inout [UInt8]) {
        // Each with a space behind the colon, which the client takes away: so a value may begin with one.
        if let event, !event.isEmpty { Self.append("event: ", event.utf8.span.raw, to: &bytes) }
        if let id { Self.append("id: ", id.utf8.span.raw, to: &bytes) }
        if let retry { bytes.append(utf8: "retry: \(retry.wholeNanoseconds / 1_000_000)\n") }
        if let data { Self.appendLines("data: ", data, to: &bytes) }
        bytes.append(0x0A)
    }

    /// A comment as it is sent: no client sees it, and it shows everybody on the way that the stream is alive.
    ///
    /// - Parameter text: any text; each of its lines becomes one of the comment's. Default: none.
    /// - Returns: the bytes.
    package static func comment(_ text: String = "") -> [UInt8] {
        var bytes: [UInt8] = []
        appendLines(text.isEmpty ? ":" : ": ", text, to: &bytes)
        bytes.append(0x0A)
        return bytes
    }

    /// A line for each line of the text, whichever of the three line ends it has.
    private static func appendLines(_ name: String, _ text: String, to bytes: inout [UInt8]) {
        let text = text.utf8.span.raw
        var start = 0
        var feed = text.firstOffset(of: 0x0A, from: 0)
        var carriage = text.firstOffset(of: 0x0D, from: 0)
        while let end = [feed, carriage].compactMap({ $0 }).min() {
            append(name, text.extracting(start..<end), to: &bytes)
            start = end + 1
            if end == carriage {
                // A line feed right behind belongs to it.
                if feed == start { start += 1 }
                carriage = text.firstOffset(of: 0x0D, from: start)
            }
            if let place = feed, place < start { feed = text.firstOffset(of: 0x0A, from: start) }
        }
        append(name, text.extracting(droppingFirst: start), to: &bytes)
    }

    private static func append(_ name: String, _ value: RawSpan, to bytes: inout [UInt8]) {
        bytes.append(utf8: name)
        bytes.append(value)
        bytes.append(0x0A)
    }
}
