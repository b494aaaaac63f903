// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import PackageDescription

// A web server with Duplex, for scripts/bench to measure: a package of its own, so that nobody else builds it.
let package = Package(
    name: "duplex-web",
    platforms: [.macOS("26.0")],
    dependencies: [
        .package(name: "duplex", path: "../.."),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "duplex-web",
            dependencies: [
                .product(name: "DuplexServer", package: "duplex"),
                .product(name: "DuplexFoundation", package: "duplex"),
                .product(name: "DuplexSharing", package: "duplex"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
