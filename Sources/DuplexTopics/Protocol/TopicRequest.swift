// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a client asks for in the JSON protocol.
enum TopicRequest: Sendable, Hashable {
    case subscribe(String, TopicReplay)
    case unsubscribe(String)
    case publish(String, Message)
    case enter(String, info: String)
    case leave(String)
    case presence(String, limit: Int)
    case watch(String)
    case unwatch(String)

    /// Whether asking again does no harm: whoever doesn't know whether a message was published may not publish it again.
    var isRepeatable: Bool { if case .publish = self { false } else { true } }
}

/// A request as it is sent, in one message.
struct TopicRequestMessage: Decodable, Sendable {
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

    /// The most members that an answer names, which is also the default.
    private static let memberLimit = 1_000
    private static let usualMembers = 100

    /// Reads a message.
    ///
    /// - Throws: ``TopicError`` with `invalidRequest`.
    init(_ message: Message) throws(TopicError) {
        guard case .text(let text) = message else {
            throw TopicError(.invalidRequest, "A request is a text message.")
        }
        do {
            self = try JSONDecoder().decode(TopicRequestMessage.self, from: Data(text.utf8))
        } catch {
            throw TopicError(.invalidRequest, "A request is an object of JSON with the members of the protocol.")
        }
        if enter != nil { info = Self.info(in: text) }
    }

    /// Makes the message of a request.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - id: names the answer.
    init(_ request: TopicRequest, id: Int64) {
        self.id = id
        switch request {
        case .subscribe(let name, let replay):
            subscribe = name
            switch replay {
            case .none: break
            case .last(let count): last = count
            case .after(let position): after = position.description
            }
        case .unsubscribe(let name): unsubscribe = name
        case .publish(let name, let message):
            publish = name
            switch message {
            case .text(let text): self.text = text
            case .binary(let bytes): base64 = Data(bytes).base64EncodedString()
            }
        case .enter(let name, let info): (enter, self.info) = (name, info)
        case .leave(let name): leave = name
        case .presence(let name, let limit): (presence, self.limit) = (name, limit)
        case .watch(let name): watch = name
        case .unwatch(let name): unwatch = name
        }
    }

    /// The message in JSON; written by hand, since an encoder takes in no ``info`` that is JSON already.
    var json: String {
        var members = JSONText.Members()
        func add(_ key: CodingKeys, _ text: String?) { members.add(key.stringValue, text) }
        members.add(CodingKeys.id.stringValue, id.map { .integer($0) })
        add(.subscribe, subscribe)
        add(.after, after)
        members.add(CodingKeys.last.stringValue, last)
        add(.unsubscribe, unsubscribe)
        add(.publish, publish)
        add(.text, text)
        add(.base64, base64)
        add(.enter, enter)
        members.add("info", info.flatMap(PresenceInfo.value))
        add(.leave, leave)
        add(.presence, presence)
        members.add(CodingKeys.limit.stringValue, limit)
        add(.watch, watch)
        add(.unwatch, unwatch)
        return JSONText.object(members.all).text
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
    var request: TopicRequest {
        get throws(TopicError) {
            var requests: [TopicRequest] = []
            if let subscribe { requests.append(.subscribe(subscribe, try replay)) }
            if let unsubscribe { requests.append(.unsubscribe(unsubscribe)) }
            if let publish { requests.append(.publish(publish, try message)) }
            if let enter { requests.append(.enter(enter, info: try ownInfo)) }
            if let leave { requests.append(.leave(leave)) }
            if let presence { requests.append(.presence(presence, limit: memberLimit)) }
            if let watch { requests.append(.watch(watch)) }
            if let unwatch { requests.append(.unwatch(unwatch)) }
            guard requests.count == 1 else {
                let names = "subscribe, unsubscribe, publish, enter, leave, presence, watch and unwatch"
                throw TopicError(.invalidRequest, "A request has one of \(names).")
            }
            return requests[0]
        }
    }

    private var ownInfo: String {
        get throws(TopicError) {
            if let info { return info }
            throw TopicError(.invalidRequest, "A request nests \(JSONScanner.mostLevels) levels at most.")
        }
    }

    private var memberLimit: Int { min(max(0, limit ?? Self.usualMembers), Self.memberLimit) }

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
