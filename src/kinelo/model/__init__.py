"""The paper's vocabulary: outcomes, pairings, strengths, and the rating system they make up."""
