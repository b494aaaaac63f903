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
    var base64: String?
    var enter: String?
    /// With ``enter``: what the member says of itself, which isn't decoded, since anything may be in it; `nil` if it nests too deep.
    var info: String? = ""
    var leave: String?
    var presence: String?
    /// With ``presence``: how many members are named at most.
    var limit: Int?
    var watch: String?
    var unwatch: String?

    private enum CodingKeys: CodingKey {
        case id, subscribe, after, last, unsubscribe, publish, text, base64, enter, leave, presence, limit, watch,
            unwatch
    }

    /// What is asked for.
    enum Kind: Sendable, Hashable {
        case subscribe(String, TopicReplay)
        case unsubscribe(String)
        case publish(String, Message)
        case enter(String, info: String)
        case leave(String)
        case presence(String, limit: Int)
        case watch(String)
        case unwatch(String)
    }

    /// The most members that an answer names, which is also the default.
    private static let mostMembers = 1_000
    private static let usualMembers = 100

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
        if enter != nil { info = Self.info(in: text) }
    }

    private static func info(in text: String) -> String? {
        let scanner = JSONScanner(text)
        guard let members = scanner.members(at: scanner.whole) else { return nil }
        guard let place = members.last(where: { $0.name == "info" })?.place else { return "" }
        return PresenceInfo.text(scanner, at: place) ?? ""
    }

    /// What is asked for.
    ///
    /// - Throws: ``TopicError`` with `invalidRequest` when it isn't one thing.
    var kind: Kind {
        get throws(TopicError) {
            var kinds: [Kind] = []
            if let subscribe { kinds.append(.subscribe(subscribe, try replay)) }
            if let unsubscribe { kinds.append(.unsubscribe(unsubscribe)) }
            if let publish { kinds.append(.publish(publish, try message)) }
            if let enter { kinds.append(.enter(enter, info: try ownInfo)) }
            if let leave { kinds.append(.leave(leave)) }
            if let presence { kinds.append(.presence(presence, limit: memberLimit)) }
            if let watch { kinds.append(.watch(watch)) }
            if let unwatch { kinds.append(.unwatch(unwatch)) }
            guard kinds.count == 1 else {
                let names = "subscribe, unsubscribe, publish, enter, leave, presence, watch and unwatch"
                throw TopicError(.invalidRequest, "A request has one of \(names).")
            }
            return kinds[0]
        }
    }

    private var ownInfo: String {
        get throws(TopicError) {
            if let info { return info }
            throw TopicError(.invalidRequest, "A request nests \(JSONScanner.mostLevels) levels at most.")
        }
    }

    private var memberLimit: Int { min(max(0, limit ?? Self.usualMembers), Self.mostMembers) }

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
            case (let text?, nil): return .text(text)
            case (nil, let data?):
                guard let bytes = Base64.decode(data) else {
                    throw TopicError(.invalidRequest, "The member base64 isn't base64.")
                }
                return .binary(bytes)
            default: throw TopicError(.invalidRequest, "What is published has one of text and base64.")
            }
        }
    }
}
