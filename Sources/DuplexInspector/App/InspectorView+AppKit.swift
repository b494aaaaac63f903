// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(AppKit) && !targetEnvironment(macCatalyst)
public import AppKit

extension InspectorView {
    /// The windows of the app with all views in them.
    ///
    /// `options.views.add("Windows") { await InspectorView.windows() }` draws them. Written for AppKit, and not run by this project's
    /// tests yet, which have no Mac.
    ///
    /// - Returns: a node with a child for each window that is shown, the foremost last.
    @MainActor
    public static func windows() -> InspectorView {
        let windows = NSApplication.shared.orderedWindows.reversed().filter(\.isVisible)
        // Windows stand on their lower left corner.
        let bounds = windows.map(\.frame).reduce(CGRect.null) { $0.union($1) }
        let children = windows.compactMap { window -> InspectorView? in
            // The view around the content has the title bar in it.
            guard let view = window.contentView?.superview ?? window.contentView else { return nil }
            var node = InspectorView(view)
            node.x = window.frame.minX - bounds.minX
            node.y = bounds.maxY - window.frame.maxY
            node.properties.insert(Property("window", window.title), at: 0)
            return node
        }
        let size = bounds.isNull ? CGSize.zero : bounds.size
        return InspectorView(
            "windows",
            type: "NSApplication",
            width: size.width,
            height: size.height,
            children: children
        )
    }

    /// A view with all views in it, each with a picture that is made once somebody looks at it.
    ///
    /// Written for AppKit, and not run by this project's tests yet.
    @MainActor
    public init(_ view: NSView) {
        let place = Self.place(of: view)
        self.init(
            String(UInt(bitPattern: ObjectIdentifier(view)), radix: 16),
            type: String(describing: Swift.type(of: view)),
            x: place.minX,
            y: place.minY,
            width: place.width,
            height: place.height,
            properties: [
                "bounds": "\(view.bounds)", "isFlipped": "\(view.isFlipped)", "isOpaque": "\(view.isOpaque)",
                "layer": view.layer.map { "\(Swift.type(of: $0))" } ?? "none", "tag": "\(view.tag)",
                "identifier": view.identifier?.rawValue ?? "", "toolTip": view.toolTip ?? "",
                "description": view.description,
            ],
            children: view.subviews.map { InspectorView($0) }
        )
        isHidden = view.isHidden
        clips = view.clipsToBounds
        alpha = view.alphaValue
        picture = .made { @MainActor [weak view] _ in view.flatMap { Self.png(of: $0) } }
    }

    /// The frame from the upper left corner of the superview, whichever way that counts.
    @MainActor
    private static func place(of view: NSView) -> CGRect {
        let frame = view.frame
        guard let parent = view.superview else { return CGRect(x: 0, y: 0, width: frame.width, height: frame.height) }
        let y = parent.isFlipped ? frame.minY - parent.bounds.minY : parent.bounds.maxY - frame.maxY
        return CGRect(x: frame.minX - parent.bounds.minX, y: y, width: frame.width, height: frame.height)
    }

    /// The view without its subviews, which are hidden meanwhile: one turn of the main thread, in which nothing is shown.
    @MainActor
    private static func png(of view: NSView) -> [UInt8]? {
        guard view.bounds.width >= 1, view.bounds.height >= 1 else { return nil }
        let shown = view.subviews.filter { !$0.isHidden }
        for other in shown { other.isHidden = true }
        defer { for other in shown { other.isHidden = false } }
        guard let image = view.bitmapImageRepForCachingDisplay(in: view.bounds) else { return nil }
        view.cacheDisplay(in: view.bounds, to: image)
        return image.representation(using: .png, properties: [:]).map { Array($0) }
    }
}
#endif
