// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import PackageDescription

// A package of its own, since its flags would keep the main one from being depended on. `scripts/more/fuzz` builds and runs it.

/// As in the main package.
var strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
]
// As in the main package.
if Context.environment["DUPLEX_STRICT"] != nil { strict.append(.treatAllWarnings(as: .error)) }

/// A fuzz target: libFuzzer has the main function, so the module must not have one.
@MainActor func target(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "FuzzSupport",
            .product(name: "DuplexWire", package: "duplex"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
        ] + products.map { .product(name: $0, package: "duplex") },
        swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]
    )
}

let package = Package(
    name: "duplex-fuzz",
    platforms: [.macOS("26.0")],
    dependencies: [
        .package(name: "duplex", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "FuzzSupport", swiftSettings: strict),
        target("heads"),
        target("bodies"),
        target("exchange"),
        target("frames"),
        target("session"),
        target("fields"),
        target("forms"),
        target("events"),
        target("redis", "DuplexTopics"),
        // `DuplexDeflate` is no product, and comes with `DuplexWebSockets`.
        target("contents", "DuplexWebSockets"),
        target("handshake", "DuplexSharing"),
        target("proxies", "DuplexWebSockets"),
        target("network", "DuplexSockets"),
        target("xml", "DuplexSharing"),
        target("har", "DuplexInspector"),
        target("messages", "DuplexWebSockets"),
    ],
    swiftLanguageModes: [.v6]
)
