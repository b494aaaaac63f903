// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// What a PROPFIND says of one file or folder.
struct PropertyAnswer {
    private let query: PropertyQuery
    /// Those that are asked for by name; nil where all are, or their names.
    private let named: [XMLName]?

    init(_ query: PropertyQuery) {
        self.query = query
        if case .named(let names) = query { named = names } else { named = nil }
    }

    /// Whether what clients have noted is asked for.
    var needsDead: Bool { named?.contains { LiveProperty($0).map { !$0.isProtected } ?? true } ?? true }

    /// Whether it is asked how much room there is.
    var needsSpace: Bool {
        let names: [XMLName] =
            switch query {
            case .named(let names), .all(let names): names
            case .names: []
            }
        return names.contains { LiveProperty($0).map { !$0.isCommon } ?? false }
    }

    /// The piece of the answer.
    func piece(_ href: String, _ facts: LiveProperty.Facts, _ dead: [XMLElement]) -> String {
        switch query {
        case .named(let names): return MultiStatus.response(href, Self.sorted(names, facts, dead))
        case .names:
            let live = LiveProperty.allCases.filter { $0.element(facts) != nil }.map(\.name)
            let names = live + dead.map(\.name).filter { !live.contains($0) }
            return MultiStatus.response(href, [(.ok, names.map { XMLElement($0) })])
        case .all(let others):
            let names = LiveProperty.allCases.filter(\.isCommon).map(\.name) + dead.map(\.name)
            let all = Self.sorted(names.unique, facts, dead)[0]
            let asked = Self.sorted(others.filter { !names.contains($0) }, facts, dead)
            return MultiStatus.response(href, [(.ok, all.elements + asked[0].elements), asked[1]])
        }
    }

    /// Those that are there, and those that aren't.
    private static func sorted(
        _ names: [XMLName],
        _ facts: LiveProperty.Facts,
        _ dead: [XMLElement]
    ) -> [(status: HTTPResponse.Status, elements: [XMLElement])] {
        var found: [XMLElement] = []
        var missing: [XMLElement] = []
        for name in names {
            let noted = dead.first { $0.name == name }
            if let element = noted ?? LiveProperty(name)?.element(facts) {
                found.append(element)
            } else {
                missing.append(XMLElement(name))
            }
        }
        return [(.ok, found), (.notFound, missing)]
    }
}

extension [XMLName] {
    /// Each once, where it is first.
    fileprivate var unique: [XMLName] {
        var seen: Set<XMLName> = []
        return filter { seen.insert($0).inserted }
    }
}
