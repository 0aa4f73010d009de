// The published numbers of parameters of vision models.
#include <xgrad/nn/nn.h>

#include "support/check.h"

using namespace xgrad;

TEST_CASE("vision models of the published sizes have the published numbers of parameters") {
  CHECK(nn::VisionTransformer(nn::root, nn::vit_b()).num_parameters() == 86'567'656);
  CHECK(nn::SwinTransformer(nn::root, nn::swin_t()).num_parameters() == 28'288'354);
  CHECK(nn::ResNet(nn::root, nn::resnet18()).num_parameters() == 11'689'512);
  CHECK(nn::ResNet(nn::root, nn::resnet50()).num_parameters() == 25'557'032);
}
