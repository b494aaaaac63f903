// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import PackageDescription

// A server of topics with Duplex, for scripts/bench to measure: a package of its own, so that nobody else builds it.
let package = Package(
    name: "duplex-topics",
    platforms: [.macOS("26.0")],
    dependencies: [.package(name: "duplex", path: "../..")],
    targets: [
        .executableTarget(
            name: "duplex-topics",
            dependencies: [
                .product(name: "DuplexServer", package: "duplex"),
                .product(name: "DuplexTopics", package: "duplex"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
