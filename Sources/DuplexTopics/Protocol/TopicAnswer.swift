// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a client of the JSON protocol is answered.
enum TopicAnswer {
    /// What was done: `{"id":1,"ok":true}`, for a subscription with where it begins.
    static func done(_ id: Int64?, position: TopicPosition? = nil, isComplete: Bool? = nil) -> String {
        var members = members(id)
        members.add("ok", true)
        members.add("position", position?.description)
        members.add("complete", isComplete)
        return JSONText.object(members.all).text
    }

    /// Who is present: `{"id":1,"ok":true,"count":2,"members":[{"member":"user-7"}]}`.
    static func presence(_ id: Int64?, _ count: Int, _ present: [PresenceMember]) -> String {
        var members = members(id)
        members.add("ok", true)
        members.add("count", count)
        members.add("members", .array(present.map(\.json)))
        return JSONText.object(members.all).text
    }

    /// What has failed: `{"id":1,"error":"notAllowed","message":"…"}`.
    static func failed(_ id: Int64?, _ error: TopicError) -> String {
        var members = members(id)
        members.add("error", error.code.rawValue)
        // What a database says, or the system of this machine, isn't for clients.
        members.add(
            "message",
            error.code == .unavailable ? "Other machines of the server can't be reached." : error.message
        )
        return JSONText.object(members.all).text
    }

    private static func members(_ id: Int64?) -> JSONText.Members {
        var members = JSONText.Members()
        members.add("id", id.map { .integer($0) })
        return members
    }
}

/// What a server of the JSON protocol sends: an answer, a message, or who comes and goes.
struct TopicReply: Decodable, Sendable {
    /// Somebody who is present.
    struct Member: Decodable, Sendable {
        var member: String
        /// Not decoded: anything may be in it.
        var info = ""

        private enum CodingKeys: CodingKey { case member }

        var value: PresenceMember { PresenceMember(id: member, info: info) }
    }

    /// Of an answer.
    var id: Int64?
    /// Whether what was asked for is done.
    var ok: Bool?
    var complete: Bool?
    var count: Int?
    var members: [Member]?
    var error: String?
    var message: String?
    /// Of a message, and of an answer.
    var position: String?
    /// Of everything but answers.
    var topic: String?
    var text: String?
    var base64: Data?
    var missed: Int?
    var gap: Bool?
    var joined: Member?
    var left: Member?

    /// Reads a message; `nil` for what isn't of the protocol.
    init?(_ message: Message) {
        guard case .text(let text) = message,
            let reply = try? JSONDecoder().decode(TopicReply.self, from: Data(text.utf8))
        else { return nil }
        self = reply
        if reply.members != nil || reply.joined != nil || reply.left != nil, !takeInfos(text) { return nil }
    }

    /// Sets what members say of themselves; returns whether it is JSON that nests within the limit.
    private mutating func takeInfos(_ text: String) -> Bool {
        let scanner = JSONScanner(text)
        guard let parts = scanner.members(at: scanner.whole) else { return false }
        for (name, place) in parts {
            switch name {
            case "joined": joined?.info = Self.info(scanner, place)
            case "left": left?.info = Self.info(scanner, place)
            case "members":
                for (index, place) in (scanner.elements(at: place) ?? []).enumerated() where index < members?.count ?? 0
                {
                    members?[index].info = Self.info(scanner, place)
                }
            default: break
            }
        }
        return true
    }

    private static func info(_ scanner: JSONScanner, _ member: Range<Int>) -> String {
        let place = scanner.members(at: member)?.last { $0.name == "info" }?.place
        return place.flatMap { PresenceInfo.text(scanner, at: $0) } ?? ""
    }

    /// Where a message stands, or a subscription begins.
    var place: TopicPosition? { position.flatMap { TopicPosition($0) } }

    /// What was published.
    var published: Message? {
        if let text { return .text(text) }
        return base64.map { .binary([UInt8]($0)) }
    }

    /// Who has come or gone.
    var change: PresenceChange? {
        if let joined { return .joined(joined.value) }
        return left.map { .left($0.value) }
    }

    /// Why a request wasn't done: the server refused it, or doesn't speak the protocol, as an echo doesn't.
    var refusal: TopicError? {
        if let error {
            let message = message ?? "The server refused it."
            // A later version's server may have kinds of errors that this one doesn't know.
            guard let code = TopicError.Code(rawValue: error) else {
                return TopicError(.refused, "\(error): \(message)")
            }
            return TopicError(code, message)
        }
        if ok == true { return nil }
        return TopicError(.invalidResponse, "What answers there doesn't speak the protocol of topics.")
    }
}
