// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWebSockets
import DuplexWire
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One message on its way to all subscribers: made once into each form that one of them needs.
final class TopicEntry: Sendable {
    /// What was published, as it came.
    enum Payload: Sendable {
        case message(Message)
        /// By a synchronous handler, which has borrowed bytes.
        case frame(PreparedMessage)

        /// What was published.
        var content: Message {
            switch self {
            case .message(let message): message
            case .frame(let frame): frame.message
            }
        }

        /// The length in bytes.
        var byteCount: Int {
            switch self {
            case .message(let message): message.byteCount
            case .frame(let frame): frame.byteCount
            }
        }
    }

    /// As a server-sent event.
    struct Event: Sendable {
        let event: ServerSentEvent
        let bytes: [UInt8]
    }

    private struct Forms {
        var frame: PreparedMessage?
        var envelope: PreparedMessage?
        /// `nil` in it where none can be made.
        var event: Event??
    }

    let topic: String
    /// Where it stands in the history; `nil` where none is kept.
    let position: TopicPosition?
    /// Its number in the history of this node; 0 where none is kept, or it isn't in there.
    let number: UInt64
    /// Whether messages before it may be lost, nobody knows how many: the backplane has lost its memory while this node was away.
    let isAfterGap: Bool
    /// Whether subscribers have had it under another position: it was published again to a backplane that had lost its memory.
    let isRepeat: Bool
    private let payload: Payload
    private let forms = Mutex(Forms())

    /// Makes an entry; `number` is that of the position unless another is given.
    init(
        _ topic: String,
        _ position: TopicPosition?,
        _ payload: Payload,
        number: UInt64? = nil,
        isAfterGap: Bool = false,
        isRepeat: Bool = false
    ) {
        self.topic = topic
        self.position = position
        self.number = number ?? position?.offset ?? 0
        self.payload = payload
        self.isAfterGap = isAfterGap
        self.isRepeat = isRepeat
    }

    /// The length of what was published in bytes.
    var byteCount: Int { payload.byteCount }

    /// About how much memory it takes, without the forms that were made of it, which ``TopicForms`` bounds.
    var size: Int { 160 + byteCount }

    /// The frame of a server.
    func frame(_ bound: TopicForms) -> PreparedMessage {
        switch payload {
        case .frame(let frame): frame
        case .message(let message):
            form(bound, \.frame) {
                let frame = PreparedMessage(message)
                return (frame, frame.byteCount)
            }
        }
    }

    /// The frame of a server with the message in JSON, as ``TopicEnvelope`` has it.
    func envelope(_ bound: TopicForms) -> PreparedMessage {
        form(bound, \.envelope) {
            let envelope = PreparedMessage(.text(TopicEnvelope.text(topic, message, position, isAfterGap: isAfterGap)))
            return (envelope, envelope.byteCount)
        }
    }

    /// As a server-sent event, with the position for its id; `nil` where that has a line end, as only others' could.
    func event(_ bound: TopicForms) -> Event? {
        form(bound, \.event) {
            let text = topicMessage().text
            guard let event = try? ServerSentEvent(text, id: position?.description) else { return (nil, 0) }
            let bytes = event.bytes
            return (Event(event: event, bytes: bytes), bytes.count + text.utf8.count)
        }
    }

    /// A form that is there, or is made now.
    private func form<Form: Sendable>(
        _ bound: TopicForms,
        _ path: WritableKeyPath<Forms, Form?>,
        _ make: () -> (Form, Int)
    ) -> Form {
        let (form, size) = forms.withLock { forms -> (Form, Int?) in
            if let form = forms[keyPath: path] { return (form, nil) }
            let (form, size) = make()
            forms[keyPath: path] = form
            return (form, size)
        }
        // What isn't in a history is gone with its forms once it has been delivered: nobody comes for it later.
        if let size, number > 0 { bound.add(size, of: self) }
        return form
    }

    /// Gives up what was made of it.
    func forget() {
        forms.withLock { $0 = Forms() }
    }

    /// What was published.
    var message: Message { payload.content }

    /// As code gets it.
    func topicMessage(missed: Int = 0) -> TopicMessage {
        TopicMessage(topic: topic, message: message, position: position, missed: missed, isAfterGap: isAfterGap)
    }
}

/// A message of a topic in the JSON protocol: its topic, what was published, and where it stands.
enum TopicEnvelope {
    /// `{"topic":"a","text":"…","position":"e-1"}`; a binary message has `base64` in place of `text`, and one before which messages
    /// may be lost has `"gap":true`.
    static func text(
        _ topic: String,
        _ message: Message,
        _ position: TopicPosition?,
        isAfterGap: Bool = false
    ) -> String {
        var members = JSONText.Members()
        members.add("topic", topic)
        switch message {
        case .text(let text): members.add("text", text)
        case .binary(let bytes): members.add("base64", Data(bytes).base64EncodedString())
        }
        members.add("position", position?.description)
        if isAfterGap { members.add("gap", true) }
        return JSONText.object(members.all).text
    }

    /// The message for a client that was too slow for so many.
    static func missed(_ topic: String, _ count: Int) -> String {
        var members = JSONText.Members()
        members.add("topic", topic)
        members.add("missed", count)
        return JSONText.object(members.all).text
    }
}

/// Bounds what messages of histories have in the forms in which they go to clients: those that were made longest ago are given up, and made
/// anew for whoever needs them.
final class TopicForms: Sendable {
    private struct Note: Sendable {
        var entry: TopicEntry
        var size: Int
    }

    private struct State: Sendable {
        var notes: Deque<Note> = []
        var size = 0
    }

    private let bound: Int
    private let state = Mutex(State())

    init(_ bound: Int) {
        self.bound = bound
    }

    /// How many bytes there are.
    var size: Int { state.withLock { $0.size } }

    /// A form was made of an entry.
    func add(_ size: Int, of entry: TopicEntry) {
        let note = Note(entry: entry, size: size + entry.size)
        let old = state.withLock { state in
            state.notes.append(note)
            state.size += note.size
            var old: [TopicEntry] = []
            while state.size > bound, let first = state.notes.popFirst() {
                state.size -= first.size
                old.append(first.entry)
            }
            return old
        }
        for entry in old { entry.forget() }
    }
}
