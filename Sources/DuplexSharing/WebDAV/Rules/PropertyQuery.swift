// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a PROPFIND asks for (RFC 4918 section 9.1).
enum PropertyQuery: Sendable, Hashable {
    /// All that is cheap, and these.
    case all(including: [XMLName])
    /// Which there are.
    case names
    /// These.
    case named([XMLName])

    /// The most properties that a request may name: each is answered for each resource.
    static let bound = 256
    /// The most bytes of their names, with each namespace counted once.
    static let nameBound = 16_384

    /// Reads the body of a request.
    ///
    /// - Parameter root: its element; nil for no body, which asks for all.
    /// - Throws: ``WebDAVFault`` for one that asks for nothing, for two things, or for too much.
    init(_ root: XMLElement?) throws(WebDAVFault) {
        guard let root else {
            self = .all(including: [])
            return
        }
        guard root.name == .dav("propfind") else { throw WebDAVFault("The body is no propfind of DAV:.") }
        // Elements that aren't known are passed over (RFC 4918 section 17).
        let questions = root.elements.filter { [.dav("prop"), .dav("allprop"), .dav("propname")].contains($0.name) }
        guard questions.count == 1 else { throw WebDAVFault("A propfind has one of prop, allprop and propname.") }
        switch questions[0].name.local {
        case "prop": self = .named(try Self.names(questions[0]))
        case "propname": self = .names
        default: self = .all(including: try root.first(.dav("include")).map(Self.names) ?? [])
        }
    }

    private static func names(_ element: XMLElement) throws(WebDAVFault) -> [XMLName] {
        var seen: Set<XMLName> = []
        let names = element.elements.map(\.name).filter { seen.insert($0).inserted }
        guard names.count <= bound else { throw WebDAVFault("A request names at most \(bound) properties.") }
        // The names that a resource doesn't have are repeated for each resource, and there may be thousands.
        let parts = names.map(\.local) + Set(names.map(\.namespace))
        guard parts.reduce(0, { $0 + $1.utf8.count }) <= nameBound else {
            throw WebDAVFault("The names of properties have at most \(nameBound) bytes in a request.")
        }
        return names
    }
}

/// What a PROPPATCH asks for (RFC 4918 section 9.2).
struct PropertyUpdate: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        /// The property is to be this element.
        case set(XMLElement)
        case remove(XMLName)

        var name: XMLName {
            switch self {
            case .set(let element): element.name
            case .remove(let name): name
            }
        }
    }

    /// What is to be done, in the order of the document.
    let steps: [Step]

    /// Reads the body of a request.
    ///
    /// - Throws: ``WebDAVFault`` for one that asks for nothing, or for too much.
    init(_ root: XMLElement) throws(WebDAVFault) {
        guard root.name == .dav("propertyupdate") else { throw WebDAVFault("The body is no propertyupdate of DAV:.") }
        var steps: [Step] = []
        for order in root.elements {
            let isSet = order.name == .dav("set")
            guard isSet || order.name == .dav("remove") else { continue }
            for list in order.elements where list.name == .dav("prop") {
                let language = [list, order, root].lazy.compactMap { $0.attribute(.language) }.first
                for property in list.elements {
                    steps.append(isSet ? .set(property.speaking(language)) : .remove(property.name))
                }
            }
        }
        guard !steps.isEmpty else { throw WebDAVFault("A propertyupdate sets or removes properties.") }
        guard steps.count <= PropertyQuery.bound else {
            throw WebDAVFault("A request names at most \(PropertyQuery.bound) properties.")
        }
        self.steps = steps
    }

    /// The properties as they are then.
    func applied(to properties: [XMLElement]) -> [XMLElement] {
        // Of several steps for one property the last decides.
        let last = Dictionary(steps.enumerated().map { ($1.name, $0) }) { max($0, $1) }
        let set = steps.enumerated().compactMap { index, step -> XMLElement? in
            guard case .set(let element) = step, last[element.name] == index else { return nil }
            return element
        }
        return properties.filter { last[$0.name] == nil } + set
    }
}

extension XMLElement {
    /// The element with the language of what is around it, unless it has its own (RFC 4918 section 4.3).
    fileprivate func speaking(_ language: String?) -> XMLElement {
        guard let language, attribute(.language) == nil else { return self }
        var copy = self
        copy.attributes.append(Attribute(.language, language, prefix: "xml"))
        return copy
    }
}
