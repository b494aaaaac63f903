// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(UIKit) && !canImport(WatchKit)
public import UIKit

extension InspectorView {
    /// The windows of the app with all views in them.
    ///
    /// `options.views.add("Windows") { await InspectorView.windows() }` draws them. Written for UIKit, and not run by this project's
    /// tests yet, which have no Mac.
    ///
    /// - Returns: a node with a child for each window, the foremost last.
    @MainActor
    public static func windows() -> InspectorView {
        let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
        let windows = scenes.flatMap(\.windows).sorted { $0.windowLevel < $1.windowLevel }
        let width = windows.map(\.frame.maxX).max() ?? 0
        let height = windows.map(\.frame.maxY).max() ?? 0
        return InspectorView(
            "windows",
            type: "UIApplication",
            width: width,
            height: height,
            children: windows.map { InspectorView($0) }
        )
    }

    /// A view with all views in it, each with a picture that is made once somebody looks at it.
    ///
    /// Written for UIKit, and not run by this project's tests yet.
    @MainActor
    public init(_ view: UIView) {
        let origin = view.superview?.bounds.origin ?? .zero
        self.init(
            String(UInt(bitPattern: ObjectIdentifier(view)), radix: 16),
            type: String(describing: Swift.type(of: view)),
            x: view.frame.minX - origin.x,
            y: view.frame.minY - origin.y,
            width: view.frame.width,
            height: view.frame.height,
            properties: [
                "bounds": "\(view.bounds)", "center": "\(view.center)", "transform": "\(view.transform)",
                "layer": "\(Swift.type(of: view.layer))", "zPosition": "\(view.layer.zPosition)",
                "backgroundColor": view.backgroundColor.map { "\($0)" } ?? "none",
                "contentMode": "\(view.contentMode.rawValue)", "tag": "\(view.tag)", "isOpaque": "\(view.isOpaque)",
                "isUserInteractionEnabled": "\(view.isUserInteractionEnabled)",
                "isMultipleTouchEnabled": "\(view.isMultipleTouchEnabled)",
                "autoresizesSubviews": "\(view.autoresizesSubviews)",
                "accessibilityIdentifier": view.accessibilityIdentifier ?? "", "description": view.description,
            ],
            children: view.subviews.map { InspectorView($0) }
        )
        isHidden = view.isHidden
        clips = view.clipsToBounds
        alpha = view.alpha
        picture = .made { @MainActor [weak view] _ in view.flatMap { Self.png(of: $0) } }
    }

    /// The view without its subviews, which are hidden meanwhile; nothing of that reaches the screen, as it is one turn of the
    /// main thread.
    @MainActor
    private static func png(of view: UIView) -> [UInt8]? {
        guard view.bounds.width >= 1, view.bounds.height >= 1 else { return nil }
        CATransaction.begin()
        CATransaction.setDisableActions(true)
        let shown = view.subviews.filter { !$0.layer.isHidden }
        for other in shown { other.layer.isHidden = true }
        defer {
            for other in shown { other.layer.isHidden = false }
            CATransaction.commit()
        }
        let format = UIGraphicsImageRendererFormat()
        // What is drawn at most, so that a picture is small enough to be sent.
        format.scale = min(1, 1_024 / max(view.bounds.width, view.bounds.height))
        format.opaque = false
        let renderer = UIGraphicsImageRenderer(bounds: view.bounds, format: format)
        return Array(renderer.pngData { view.layer.render(in: $0.cgContext) })
    }
}
#endif
