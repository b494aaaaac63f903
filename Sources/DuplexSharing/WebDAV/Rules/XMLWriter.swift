// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Writes XML: escaped, and each namespace declared where it is needed first.
struct XMLWriter: Sendable {
    /// What was written.
    private(set) var text = ""
    /// Prefixes and what they stand for, the innermost last.
    private var scope: [(prefix: String, namespace: String)]
    /// The tags that end what is open, and how much of the scope is around it.
    private var open: [(tag: String, scope: Int)] = []

    /// Begins.
    ///
    /// - Parameter scope: prefixes that what is around this has declared.
    init(within scope: [(prefix: String, namespace: String)] = []) {
        self.scope = scope
    }

    // MARK: Elements

    /// Opens an element.
    ///
    /// - Parameters:
    ///   - name: of the element.
    ///   - prefix: the prefix that it is to have; empty for any.
    ///   - attributes: of the element.
    ///   - declared: prefixes that the element declares for what is in it, whether or not it has them itself.
    mutating func begin(
        _ name: XMLName,
        prefix: String = "",
        _ attributes: [XMLElement.Attribute] = [],
        declaring declared: [(prefix: String, namespace: String)] = []
    ) {
        let outer = scope.count
        scope += declared
        let tag = tag(name, prefix, attributes, outer)
        text += "<" + tag.opening + ">"
        open.append((tag.name, outer))
    }

    /// Closes the element that was opened last.
    mutating func end() {
        guard let last = open.popLast() else { return }
        text += "</" + last.tag + ">"
        scope.removeSubrange(last.scope...)
    }

    /// An element with a text in it, or with nothing.
    mutating func leaf(_ name: XMLName, _ content: String = "") {
        add(XMLElement(name, children: content.isEmpty ? [] : [.text(content)]))
    }

    /// An element with all that is in it.
    mutating func add(_ element: XMLElement) {
        let outer = scope.count
        let tag = tag(element.name, element.prefix, element.attributes, outer)
        text += "<" + tag.opening
        if element.children.isEmpty {
            text += "/>"
        } else {
            text += ">"
            for child in element.children {
                switch child {
                case .element(let inner): add(inner)
                case .text(let part): add(part)
                }
            }
            text += "</" + tag.name + ">"
        }
        scope.removeSubrange(outer...)
    }

    /// A text.
    mutating func add(_ content: String) {
        Self.escape(content, isAttribute: false, into: &text)
    }

    /// Elements that another writer has written, with prefixes that are declared around this.
    mutating func add(written: String) {
        text += written
    }

    // MARK: Names

    private mutating func tag(
        _ name: XMLName,
        _ prefix: String,
        _ attributes: [XMLElement.Attribute],
        _ outer: Int
    ) -> (name: String, opening: String) {
        let tag = qualified(name, prefix, outer)
        var values = ""
        for attribute in attributes {
            values += " " + qualified(attribute.name, attribute.prefix, outer) + "=\""
            Self.escape(attribute.value, isAttribute: true, into: &values)
            values += "\""
        }
        var opening = tag
        for (prefix, namespace) in scope[outer...] {
            opening += " xmlns:" + prefix + "=\""
            Self.escape(namespace, isAttribute: true, into: &opening)
            opening += "\""
        }
        return (tag, opening + values)
    }

    /// A name with the prefix that stands for its namespace; without one where it has none: no default is ever declared.
    private mutating func qualified(_ name: XMLName, _ wish: String, _ outer: Int) -> String {
        if name.namespace.isEmpty { return name.local }
        if name.namespace == XMLName.xmlNamespace { return "xml:" + name.local }
        return prefix(for: name.namespace, wish, outer) + ":" + name.local
    }

    private mutating func prefix(for namespace: String, _ wish: String, _ outer: Int) -> String {
        if !wish.isEmpty, Self.stands(scope, wish) == namespace { return wish }
        let isFree = !wish.isEmpty && wish != "xml" && !scope[outer...].contains { $0.prefix == wish }
        if wish.isEmpty || !isFree,
            let present = scope.last(where: { $0.namespace == namespace && Self.stands(scope, $0.prefix) == namespace })
        {
            return present.prefix
        }
        var chosen = wish
        if !isFree {
            var number = scope.count
            while Self.stands(scope, "n\(number)") != nil { number += 1 }
            chosen = "n\(number)"
        }
        scope.append((chosen, namespace))
        return chosen
    }

    private static func stands(_ scope: [(prefix: String, namespace: String)], _ prefix: String) -> String? {
        scope.last { $0.prefix == prefix }?.namespace
    }

    // MARK: Text

    /// Characters that XML 1.0 doesn't have (section 2.2) are replaced: nobody could read the document.
    private static func escape(_ content: String, isAttribute: Bool, into text: inout String) {
        for scalar in content.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"" where isAttribute: text += "&quot;"
            case "\r": text += "&#13;"
            case "\n" where isAttribute: text += "&#10;"
            case "\t" where isAttribute: text += "&#9;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
