// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("The inspector's page")
struct InspectorSiteTests {
    @Test("Its policy allows this origin's files, and pictures that it makes itself")
    func policy() {
        #expect(InspectorSite.contentSecurityPolicy.contains("; img-src 'self' blob: data:; "))
        #expect(InspectorSite.contentSecurityPolicy.hasSuffix("; trusted-types 'none'"))
    }
}
