// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Synchronization

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
