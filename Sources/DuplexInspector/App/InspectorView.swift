// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A view of the app with those in it, as the inspector draws them; or anything else that is boxes in boxes.
///
/// ```swift
/// options.views.add("Board") {
///     InspectorView("board", type: "Board", width: 80, height: 80, children: await board.squares.map { square in
///         InspectorView(square.name, type: "Square", x: square.x, y: square.y, width: 10, height: 10)
///     })
/// }
/// ```
public struct InspectorView: Sendable, Identifiable {
    /// Identifies it in its tree, such as the address of an object; the page sends it back, and it is only looked up in
    /// the tree.
    public var id: String
    /// The name of its class.
    package var type: String
    /// The distance of its left edge from its parent's, to the right.
    package var x: Double
    /// The distance of its upper edge from its parent's, down.
    package var y: Double
    /// The width, in the same unit.
    package var width: Double
    /// The height, in the same unit.
    package var height: Double
    /// What the page lists of it, in this order.
    package var properties: [Property]
    /// Whether it isn't shown by the app; neither are those in it then.
    public var isHidden = false
    /// Whether those in it are cut off at its frame.
    public var clips = false
    /// How opaque it is, from 0 to 1.
    public var alpha = 1.0
    /// What it looks like without those in it; `nil` where that isn't known.
    public var picture: Picture?
    /// Those in it, the last one in front.
    package var children: [InspectorView]

    /// A name and a value.
    package struct Property: Sendable, Hashable {
        /// What it is called.
        package var name: String
        /// What it is, as a text.
        package var value: String

        /// Makes a property.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a view that is shown, doesn't clip and has no picture.
    ///
    /// - Parameters:
    ///   - id: identifies it in its tree.
    ///   - type: the name of its class.
    ///   - x: the distance of its left edge from its parent's. Default: 0.
    ///   - y: the distance of its upper edge from its parent's. Default: 0.
    ///   - width: the width.
    ///   - height: the height.
    ///   - properties: what the page lists of it. Default: nothing.
    ///   - children: those in it, the last one in front. Default: none.
    public init(
        _ id: String,
        type: String,
        x: Double = 0,
        y: Double = 0,
        width: Double,
        height: Double,
        properties: KeyValuePairs<String, String> = [:],
        children: [InspectorView] = []
    ) {
        self.id = id
        self.type = type
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.properties = properties.map { Property($0.key, $0.value) }
        self.children = children
    }
}

extension InspectorView {
    /// The picture of a view, a PNG of 8 MiB at most.
    @nonexhaustive
    public enum Picture: Sendable {
        /// A picture that is there.
        case png([UInt8])
        /// A picture that is made once somebody looks at it.
        ///
        /// The closure gives the PNG of the view with that identity, within 5 s; `nil` if there is none any more.
        case made(by: @Sendable (_ id: String) async throws -> [UInt8]?)
    }
}
