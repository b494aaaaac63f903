// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a client of the JSON protocol asks for, in one message.
struct TopicWish: Decodable, Sendable {
    /// Comes back with the answer; `null` and none alike give an answer without.
    var id: Int64?
    var subscribe: String?
    /// With ``subscribe``: the position behind which it goes on.
    var after: String?
    /// With ``subscribe``: how many of the last messages it wants.
    var last: Int?
    var unsubscribe: String?
    var publish: String?
    /// With ``publish``: one of the two.
    var text: String?
    var base64: Data?

    /// What is asked for.
    enum Kind: Sendable, Hashable {
        case subscribe(String, TopicReplay)
        case unsubscribe(String)
        case publish(String, Message)
    }

    /// Reads a message.
    ///
    /// - Throws: ``TopicError`` with `invalidRequest`.
    init(_ message: Message) throws(TopicError) {
        guard case .text(let text) = message else {
            throw TopicError(.invalidRequest, "A request is a text message.")
        }
        do {
            self = try JSONDecoder().decode(TopicWish.self, from: Data(text.utf8))
        } catch {
            throw TopicError(.invalidRequest, "A request is an object of JSON with the members of the protocol.")
        }
    }

    /// What is asked for.
    ///
    /// - Throws: ``TopicError`` with `invalidRequest` when it isn't one thing.
    var kind: Kind {
        get throws(TopicError) {
            switch (subscribe, unsubscribe, publish) {
            case (let name?, nil, nil): .subscribe(name, try replay)
            case (nil, let name?, nil): .unsubscribe(name)
            case (nil, nil, let name?): .publish(name, try message)
            default:
                throw TopicError(.invalidRequest, "A request has one of subscribe, unsubscribe and publish.")
            }
        }
    }

    private var replay: TopicReplay {
        get throws(TopicError) {
            guard let after else { return last.map { .last(max(0, $0)) } ?? .none }
            guard let position = TopicPosition(after) else {
                throw TopicError(.invalidRequest, "The member after isn't a position.")
            }
            return .after(position)
        }
    }

    private var message: Message {
        get throws(TopicError) {
            switch (text, base64) {
            case (let text?, nil): .text(text)
            case (nil, let data?): .binary([UInt8](data))
            default: throw TopicError(.invalidRequest, "What is published has one of text and base64.")
            }
        }
    }
}
