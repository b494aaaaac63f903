// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The members of a field that says what is preferred, each with its weight (RFC 9110 section 12.4.2).
struct WeightedList: Sendable, Hashable {
    /// The most members that are read; further ones are passed over.
    static let bound = 64

    struct Member: Sendable, Hashable {
        /// In lower case: a coding, a range of languages or of media types.
        var name: String
        /// Those in front of the weight.
        var parameters: [FieldParameter]
        /// In thousandths: 1,000 is what is wanted most, 0 is not acceptable.
        var weight: Int
    }

    private(set) var members: [Member] = []

    /// Reads the values of all fields of one name; a member that is malformed is passed over.
    init(_ values: [String]) {
        for value in values {
            var scanner = FieldScanner(value)
            while true {
                scanner.skipCommas()
                if scanner.isAtEnd || members.count == Self.bound { break }
                if let member = Self.member(&scanner) { members.append(member) }
                scanner.skipMember()
            }
        }
    }

    private static func member(_ scanner: inout FieldScanner) -> Member? {
        guard var name = scanner.token() else { return nil }
        if scanner.skip("/") {
            guard let subtype = scanner.token() else { return nil }
            name += "/" + subtype
        }
        guard let parameters = scanner.parameters(atMost: MediaType.parameterBound),
            scanner.isAtEnd || scanner.isAt(",")
        else { return nil }
        var member = Member(name: Grammar.lowercased(name), parameters: [], weight: 1_000)
        for parameter in parameters {
            if parameter.name == "q" {
                guard let weight = weight(parameter.value) else { return nil }
                member.weight = weight
                // What stands behind the weight belongs to it, and nobody uses it any more.
                break
            }
            member.parameters.append(parameter)
        }
        return member
    }

    /// A weight in thousandths: 0 to 1 with at most three digits behind the point; nil for anything else.
    private static func weight(_ text: String) -> Int? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].elementsEqual("0".utf8) || parts[0].elementsEqual("1".utf8) else { return nil }
        var fraction = 0
        if parts.count > 1 {
            guard parts[1].count <= 3, parts[1].allSatisfy(Grammar.isDigit) else { return nil }
            let digits = Array(parts[1]) + [UInt8](repeating: UInt8(ascii: "0"), count: 3 - parts[1].count)
            fraction = Grammar.decimal(digits) ?? 0
        }
        let weight = (parts[0].elementsEqual("1".utf8) ? 1_000 : 0) + fraction
        return weight <= 1_000 ? weight : nil
    }

    /// The offer with the greatest weight, the first of those that have the same; nil if none is acceptable.
    static func best(of offers: [String], _ weight: (String) -> Int) -> String? {
        var best: (offer: String, weight: Int)?
        for offer in offers {
            let weight = weight(offer)
            if weight > best?.weight ?? 0 { best = (offer, weight) }
        }
        return best?.offer
    }
}

/// Which media types a client wants: the field `Accept` (RFC 9110 section 12.5.1).
///
/// Without the field every type is as good as any other.
public struct MediaPreferences: Sendable, Hashable {
    private let list: WeightedList?

    /// Reads the field; a member that is malformed is passed over.
    package init(_ headers: HTTPFields) {
        list = headers.contains(.accept) ? WeightedList(headers[values: .accept]) : nil
    }

    /// How much a type is wanted, in thousandths; 0 if it isn't acceptable.
    ///
    /// Of the ranges that take the type in, the most specific one decides: one with the most parameters that the type has,
    /// then the type, then `text/*`, then `*/*`.
    package func weight(of type: MediaType) -> Int {
        guard let list else { return 1_000 }
        guard let essence = type.essence else { return 0 }
        var best: (rank: Int, weight: Int) = (-1, 0)
        for member in list.members {
            guard let rank = Self.rank(member, essence, type.fieldParameters), rank > best.rank else { continue }
            best = (rank, member.weight)
        }
        return best.weight
    }

    /// The offer that is wanted most, the first of those that are wanted as much.
    ///
    /// - Parameter offers: Types, such as `text/html`; those that this side likes best stand first.
    /// - Returns: The offer; nil if none is acceptable.
    public func preferred(of offers: [MediaType]) -> MediaType? {
        WeightedList.best(of: offers.map(\.rawValue)) { weight(of: MediaType(rawValue: $0)) }
            .map(MediaType.init(rawValue:))
    }

    /// How specific a range is that takes the type in; nil if it doesn't.
    private static func rank(
        _ member: WeightedList.Member,
        _ essence: String,
        _ parameters: [FieldParameter]
    ) -> Int? {
        if member.name == "*/*" { return member.parameters.isEmpty ? 0 : nil }
        if member.name.hasSuffix("/*") {
            return essence.hasPrefix(member.name.dropLast()) && member.parameters.isEmpty ? 1 : nil
        }
        guard member.name == essence else { return nil }
        let hasAll = member.parameters.allSatisfy { wanted in
            parameters.contains { $0.name == wanted.name && Grammar.matches($0.value, wanted.value) }
        }
        return hasAll ? 2 + member.parameters.count : nil
    }
}

/// Which codings of content a client takes: the field `Accept-Encoding` (RFC 9110 section 12.5.3).
///
/// Without the field only what isn't coded is sent: the client hasn't said that it knows any coding.
package struct CodingPreferences: Sendable, Hashable {
    private let list: WeightedList

    /// Reads the field; a member that is malformed is passed over.
    package init(_ headers: HTTPFields) {
        list = WeightedList(headers[values: .acceptEncoding])
    }

    /// How much a coding is wanted, in thousandths; 0 if it isn't acceptable.
    ///
    /// `identity`, no coding, is acceptable unless it is excluded by name or by `*;q=0`.
    package func weight(of coding: String) -> Int {
        var name = Grammar.lowercased(coding)
        if name == "x-gzip" { name = "gzip" }
        let member = list.members.first { $0.name == name || ($0.name == "x-gzip" && name == "gzip") }
        if let member { return member.weight }
        let rest = list.members.first { $0.name == "*" }
        // Unnamed, it is acceptable, and worth less than anything that is named.
        if name == "identity" { return rest.map(\.weight) ?? 1 }
        return rest?.weight ?? 0
    }

    /// The coding that is wanted most, the first of those that are wanted as much.
    ///
    /// - Parameter offers: Codings, such as `gzip` and `identity`; those that this side likes best stand first.
    /// - Returns: The coding; nil if none is acceptable.
    package func preferred(of offers: [String]) -> String? {
        WeightedList.best(of: offers, weight)
    }
}

/// Which languages a client wants: the field `Accept-Language` (RFC 9110 section 12.5.4).
///
/// Without the field every language is as good as any other.
public struct LanguagePreferences: Sendable, Hashable {
    private let list: WeightedList?

    /// Reads the field; a member that is malformed is passed over.
    package init(_ headers: HTTPFields) {
        list = headers.contains(.acceptLanguage) ? WeightedList(headers[values: .acceptLanguage]) : nil
    }

    /// How much a language is wanted, in thousandths; 0 if it isn't acceptable.
    ///
    /// A range takes in the tags that begin with its subtags (RFC 4647 section 3.3.1): `de` takes in `de-AT`. Of those that
    /// take the tag in, the longest decides.
    package func weight(of tag: String) -> Int {
        guard let list else { return 1_000 }
        let tag = Grammar.lowercased(tag)
        var best: (length: Int, weight: Int) = (-1, 0)
        for member in list.members {
            let length = member.name == "*" ? 0 : member.name.utf8.count
            let isTaken = length == 0 || tag == member.name || tag.hasPrefix(member.name + "-")
            if isTaken && length > best.length { best = (length, member.weight) }
        }
        return best.weight
    }

    /// The language that is wanted most, the first of those that are wanted as much.
    ///
    /// - Parameter offers: Tags, such as `en` and `de-AT`; those that this side likes best stand first.
    /// - Returns: The language; nil if none is acceptable.
    public func preferred(of offers: [String]) -> String? {
        WeightedList.best(of: offers, weight)
    }
}
