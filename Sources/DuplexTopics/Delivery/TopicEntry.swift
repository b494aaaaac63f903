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
    }

    /// As a server-sent event.
    struct Event: Sendable {
        let event: ServerSentEvent
        let bytes: [UInt8]
    }

    private struct Forms {
        var frame: PreparedMessage?
        var envelope: PreparedMessage?
        var event: Event?
    }

    let topic: String
    /// Where it stands in the history; `nil` where none is kept.
    let position: TopicPosition?
    /// Its number in the history of this node; 0 where none is kept, or it isn't in there.
    let number: UInt64
    private let payload: Payload
    private let forms = Mutex(Forms())

    /// Makes an entry; `number` is that of the position unless another is given.
    init(_ topic: String, _ position: TopicPosition?, _ payload: Payload, number: UInt64? = nil) {
        self.topic = topic
        self.position = position
        self.number = number ?? position?.offset ?? 0
        self.payload = payload
    }

    /// The length of what was published in bytes.
    var byteCount: Int {
        switch payload {
        case .message(let message): message.byteCount
        case .frame(let frame): frame.byteCount
        }
    }

    /// About how much memory it takes.
    var size: Int { 160 + byteCount }

    /// The frame of a server.
    var frame: PreparedMessage {
        switch payload {
        case .frame(let frame): frame
        case .message(let message):
            forms.withLock { forms in
                if let frame = forms.frame { return frame }
                let frame = PreparedMessage(message)
                forms.frame = frame
                return frame
            }
        }
    }

    /// What was published.
    var message: Message { payload.content }

    /// As a server-sent event, with the position for its id; `nil` where that has a line end, as only others' could.
    var event: Event? {
        forms.withLock { forms in
            if let event = forms.event { return event }
            let text = TopicMessage(topic: topic, message: message).text
            guard let event = try? ServerSentEvent(text, id: position?.description) else { return nil }
            forms.event = Event(event: event, bytes: event.bytes)
            return forms.event
        }
    }

    /// The frame of a server with the message in JSON, as ``TopicEnvelope`` has it.
    var envelope: PreparedMessage {
        forms.withLock { forms in
            if let envelope = forms.envelope { return envelope }
            let envelope = PreparedMessage(.text(TopicEnvelope.text(topic, message, position)))
            forms.envelope = envelope
            return envelope
        }
    }

    /// As code gets it.
    func topicMessage(missed: Int = 0) -> TopicMessage {
        TopicMessage(topic: topic, message: message, position: position, missed: missed)
    }
}
