// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Values under one heading, as the page gets them.
struct ValueGroup: Sendable {
    /// Where values come from.
    enum Source: String, Sendable {
        case app
        case defaults
        case environment
        case arguments
    }

    let name: String
    let source: Source
    let items: [ValueItem]

    var json: JSONText {
        var members = JSONText.Members()
        members.add("name", name)
        members.add("source", source.rawValue)
        members.add("items", .array(items.map(\.json)))
        return .object(members.all)
    }
}

/// One value, as the page gets it.
struct ValueItem: Sendable {
    /// The longest text that is shown; a longer one is cut, and can't be edited.
    static let limit = 65_536

    let name: String
    var kind = InspectorValueKind.text
    /// What is shown; the mask of a secret.
    var text = ""
    /// Of what the value was, to detect changes since.
    var version = ""
    var isEditable = false
    var isSecret = false
    var isCut = false
    /// Why there is no value.
    var error: String?

    /// - Parameters:
    ///   - name: its name.
    ///   - kind: its kind.
    ///   - value: the value.
    ///   - isEditable: whether it can be set.
    ///   - isSecret: whether it is masked.
    ///   - version: of the value.
    init(
        _ name: String,
        _ kind: InspectorValueKind = .text,
        value: String,
        isEditable: Bool = false,
        isSecret: Bool = false,
        version: String
    ) {
        self.name = name
        self.kind = kind
        self.isSecret = isSecret
        isCut = value.utf8.count > Self.limit
        self.isEditable = isEditable && !isCut
        text = isSecret ? SecretNames.mask : isCut ? String(value.prefix(Self.limit)) : value
        self.version = version
    }

    /// A value that couldn't be had.
    init(_ name: String, _ kind: InspectorValueKind, error: String) {
        self.name = name
        self.kind = kind
        self.error = error
    }

    var json: JSONText {
        var members = JSONText.Members()
        members.add("name", name)
        members.add("kind", kind.name)
        if case .choice(let choices) = kind { members.add("choices", .array(choices.map { .string($0) })) }
        members.add("text", text)
        members.add("version", version)
        if isEditable { members.add("editable", true) }
        if isSecret { members.add("secret", true) }
        if isCut { members.add("cut", true) }
        members.add("error", error)
        return .object(members.all)
    }
}
