// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import PackageDescription

// Echoes, and answers to requests, with other Swift libraries, for scripts/bench to measure beside ours; Duplex itself doesn't depend on them.
let package = Package(
    name: "rivals",
    platforms: [.macOS("26.0")],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.20.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "nio-echo",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "hummingbird-hello",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(name: "flyingfox-echo", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
    ]
)
