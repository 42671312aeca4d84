package mcp

import "github.com/modelcontextprotocol/go-sdk/mcp"

// SDK is the server beneath, to which tests add tools, resources and prompts of their own.
func (s *Server) SDK() *mcp.Server { return s.sdk }
