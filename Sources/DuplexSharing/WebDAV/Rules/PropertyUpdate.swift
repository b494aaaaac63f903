// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
